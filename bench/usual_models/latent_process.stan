// Counts whose log rate is a Gaussian process, non-centred.
data { int N; array[N] real x; array[N] int y; }
parameters {
  real<lower=0> rho;
  real<lower=0> alpha;
  real c;
  vector[N] z;
}
model {
  matrix[N, N] K = gp_exp_quad_cov(x, alpha, rho) + diag_matrix(rep_vector(1e-8, N));
  rho ~ inv_gamma(5, 5);
  alpha ~ normal(0, 1);
  c ~ normal(0, 2);
  z ~ std_normal();
  y ~ poisson_log(c + cholesky_decompose(K) * z);
}
