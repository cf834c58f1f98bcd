// A mixture of three normals in the plane.
data { int N; int K; array[N] vector[2] y; }
parameters {
  simplex[K] w;
  array[K] vector[2] m;
  array[K] vector<lower=0>[2] s;
  array[K] cholesky_factor_corr[2] L;
}
model {
  for (k in 1:K) {
    m[k] ~ normal(0, 5);
    s[k] ~ normal(0, 2);
    L[k] ~ lkj_corr_cholesky(2);
  }
  for (n in 1:N) {
    vector[K] l = log(w);
    for (k in 1:K) l[k] += multi_normal_cholesky_lpdf(y[n] | m[k], diag_pre_multiply(s[k], L[k]));
    target += log_sum_exp(l);
  }
}
