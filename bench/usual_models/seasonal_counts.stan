// Counts with a smooth trend and a season.
data { int T; array[T] int y; }
parameters {
  vector[T] f;
  real<lower=0> s;
  vector[12] z;
  real<lower=0> sz;
}
model {
  s ~ normal(0, 1);
  sz ~ normal(0, 1);
  f[1:2] ~ normal(0, 3);
  f[3:T] ~ normal(2 * f[2:T - 1] - f[1:T - 2], s);
  z ~ normal(0, sz);
  for (t in 1:T) y[t] ~ poisson_log(f[t] + z[1 + (t - 1) % 12]);
}
