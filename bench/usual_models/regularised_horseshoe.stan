// A logistic regression whose large coefficients have a slab.
data { int N; int D; matrix[N, D] X; array[N] int y; }
parameters {
  real a;
  vector[D] z;
  vector<lower=0>[D] lam;
  real<lower=0> tau;
  real<lower=0> c2;
}
transformed parameters {
  vector[D] b = z .* sqrt(c2 * square(lam) ./ (c2 + square(tau) * square(lam))) * tau;
}
model {
  a ~ normal(0, 2);
  z ~ normal(0, 1);
  lam ~ student_t(1, 0, 1);
  tau ~ student_t(1, 0, 0.05);
  c2 ~ inv_gamma(2, 8);
  y ~ bernoulli_logit(a + X * b);
}
