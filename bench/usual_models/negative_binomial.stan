// Counts that vary more than a Poisson law.
data { int N; int K; matrix[N, K] X; array[N] int y; }
parameters {
  real a;
  vector[K] b;
  real<lower=0> phi;
}
model {
  a ~ normal(0, 5);
  b ~ normal(0, 2);
  phi ~ exponential(0.1);
  y ~ neg_binomial_2_log(a + X * b, phi);
}
