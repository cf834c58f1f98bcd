// A line through points of which x is measured with error.
data { int N; vector[N] measured; vector[N] y; real<lower=0> error; }
parameters {
  vector[N] x;
  real m;
  real<lower=0> tau;
  real a;
  real b;
  real<lower=0> sigma;
}
model {
  m ~ normal(0, 5);
  tau ~ normal(0, 2);
  a ~ normal(0, 5);
  b ~ normal(0, 2);
  sigma ~ normal(0, 1);
  x ~ normal(m, tau);
  measured ~ normal(x, error);
  y ~ normal(a + b * x, sigma);
}
