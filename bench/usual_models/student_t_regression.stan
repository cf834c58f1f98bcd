// A regression with outliers, their degrees of freedom learnt.
data { int N; int K; matrix[N, K] X; vector[N] y; }
parameters {
  real a;
  vector[K] b;
  real<lower=0> s;
  real<lower=1> nu;
}
model {
  a ~ normal(0, 5);
  b ~ normal(0, 2);
  s ~ normal(0, 2);
  nu ~ gamma(2, 0.1);
  y ~ student_t(nu, a + X * b, s);
}
