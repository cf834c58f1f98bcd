// A mixture that may swap its components: two modes by symmetry.
data { int N; vector[N] y; }
parameters {
  vector[2] mu;
  vector<lower=0>[2] s;
  real<lower=0, upper=1> w;
}
model {
  mu ~ normal(0, 5);
  s ~ normal(0, 2);
  w ~ beta(2, 2);
  for (i in 1:N)
    target += log_mix(w, normal_lpdf(y[i] | mu[1], s[1]), normal_lpdf(y[i] | mu[2], s[2]));
}
