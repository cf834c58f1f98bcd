// A logistic regression with two crossed groups, centred.
data { int N; int J; int K; array[N] int g; array[N] int h; vector[N] x; array[N] int y; }
parameters {
  real a;
  real b;
  vector[J] u;
  vector[K] w;
  real<lower=0> su;
  real<lower=0> sw;
}
model {
  a ~ normal(0, 3);
  b ~ normal(0, 3);
  su ~ cauchy(0, 2.5);
  sw ~ cauchy(0, 2.5);
  u ~ normal(0, su);
  w ~ normal(0, sw);
  y ~ bernoulli_logit(a + b * x + u[g] + w[h]);
}
