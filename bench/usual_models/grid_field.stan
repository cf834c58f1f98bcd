// An intrinsic autoregression over the cells of a grid, and counts.
data { int N; int E; array[E] int a; array[E] int b; array[N] int y; vector[N] log_expected; }
parameters {
  real b0;
  vector[N] phi;
  real<lower=0> s;
}
model {
  target += -0.5 * dot_self(phi[a] - phi[b]) / square(s) - (N - 1) * log(s);
  sum(phi) ~ normal(0, 0.001 * N * s);
  b0 ~ normal(0, 2);
  s ~ normal(0, 1);
  y ~ poisson_log(log_expected + b0 + phi);
}
