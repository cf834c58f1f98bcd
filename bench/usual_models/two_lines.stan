// Points about one of two lines, nobody knows which.
data { int N; vector[N] x; vector[N] y; }
parameters {
  vector[2] a;
  vector[2] b;
  vector<lower=0>[2] sigma;
  real<lower=0, upper=1> share;
}
model {
  a ~ normal(0, 3);
  b ~ normal(0, 3);
  sigma ~ normal(0, 1);
  for (n in 1:N)
    target += log_mix(share, normal_lpdf(y[n] | a[1] + b[1] * x[n], sigma[1]),
                      normal_lpdf(y[n] | a[2] + b[2] * x[n], sigma[2]));
}
