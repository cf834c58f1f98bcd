// Times to an event, some censored, with a frailty of each group: Weibull.
data { int N; int J; int K; array[N] int g; matrix[N, K] X; vector[N] t; array[N] int seen; }
parameters {
  real a;
  vector[K] beta;
  real<lower=0> shape;
  real<lower=0> sigma;
  vector[J] z;
}
model {
  a ~ normal(0, 3);
  beta ~ normal(0, 1);
  shape ~ gamma(2, 1);
  sigma ~ normal(0, 1);
  z ~ std_normal();
  for (n in 1:N) {
    real scale = exp(-(a + X[n] * beta + sigma * z[g[n]]) / shape);
    target += seen[n] ? weibull_lpdf(t[n] | shape, scale) : weibull_lccdf(t[n] | shape, scale);
  }
}
