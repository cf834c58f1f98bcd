// A wave of unknown frequency in a few observations: several frequencies fit.
data { int N; vector[N] t; vector[N] y; }
parameters {
  real a;
  real b;
  real c;
  real<lower=0.1, upper=1> f;
  real<lower=0> sigma;
}
model {
  a ~ normal(0, 2);
  b ~ normal(0, 2);
  c ~ normal(0, 2);
  sigma ~ normal(0, 1);
  y ~ normal(c + a * cos(2 * pi() * f * t) + b * sin(2 * pi() * f * t), sigma);
}
