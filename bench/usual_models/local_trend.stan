// A level that a slope drives, both random walks: a local linear trend.
data { int T; vector[T] y; }
parameters {
  vector[T] level;
  vector[T] slope;
  real<lower=0> s_level;
  real<lower=0> s_slope;
  real<lower=0> sigma;
}
model {
  s_level ~ normal(0, 1);
  s_slope ~ normal(0, 0.5);
  sigma ~ normal(0, 1);
  level[1] ~ normal(y[1], 1);
  slope[1] ~ normal(0, 1);
  level[2:T] ~ normal(level[1:T - 1] + slope[1:T - 1], s_level);
  slope[2:T] ~ normal(slope[1:T - 1], s_slope);
  y ~ normal(level, sigma);
}
