// A Gaussian process with its length and height, non-centred.
data { int N; array[N] real x; vector[N] y; }
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real<lower=0> sigma;
  vector[N] eta;
}
model {
  matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho);
  for (i in 1:N) K[i, i] += 1e-9;
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  sigma ~ normal(0, 1);
  eta ~ normal(0, 1);
  y ~ normal(cholesky_decompose(K) * eta, sigma);
}
