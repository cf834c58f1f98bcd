// Intercepts and slopes of groups, correlated, centred.
data { int N; int J; array[N] int g; vector[N] x; vector[N] y; }
parameters {
  vector[2] m;
  vector<lower=0>[2] tau;
  cholesky_factor_corr[2] L;
  array[J] vector[2] b;
  real<lower=0> sigma;
}
model {
  m ~ normal(0, 5);
  tau ~ normal(0, 2);
  L ~ lkj_corr_cholesky(2);
  sigma ~ normal(0, 2);
  b ~ multi_normal_cholesky(m, diag_pre_multiply(tau, L));
  for (i in 1:N) y[i] ~ normal(b[g[i]][1] + b[g[i]][2] * x[i], sigma);
}
