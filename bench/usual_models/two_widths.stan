// Points about one of two centres, of which one is known to scatter more: few points do not tell which is which.
data { int N; array[N] vector[2] y; }
parameters {
  array[2] vector[2] mu;
  real<lower=0, upper=1> share;
}
model {
  for (k in 1:2) mu[k] ~ normal(0, 5);
  share ~ beta(2, 2);
  for (n in 1:N)
    target += log_mix(share, normal_lpdf(y[n] | mu[1], 1.0), normal_lpdf(y[n] | mu[2], 1.5));
}
