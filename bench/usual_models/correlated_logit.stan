// Intercepts and slopes of groups, correlated, centred; answers yes or no.
data { int N; int J; array[N] int g; vector[N] x; array[N] int y; }
parameters {
  vector[2] m;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  array[J] vector[2] b;
}
model {
  vector[N] eta;
  m ~ normal(0, 2);
  tau ~ exponential(1);
  L ~ lkj_corr_cholesky(2);
  b ~ multi_normal_cholesky(m, diag_pre_multiply(tau, L));
  for (n in 1:N) eta[n] = b[g[n]][1] + b[g[n]][2] * x[n];
  y ~ bernoulli_logit(eta);
}
