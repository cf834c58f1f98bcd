// A mixture with ordered means; one place has 1e-5 of the mass.
data { int N; int K; vector[N] y; }
parameters {
  simplex[K] w;
  ordered[K] mu;
  vector<lower=0>[K] s;
}
model {
  mu ~ normal(0, 5);
  s ~ normal(0, 2);
  for (i in 1:N) {
    vector[K] l = log(w);
    for (k in 1:K) l[k] += normal_lpdf(y[i] | mu[k], s[k]);
    target += log_sum_exp(l);
  }
}
