// A linear regression with more noise than signal among its coefficients.
data { int N; int D; matrix[N, D] X; vector[N] y; }
parameters {
  real a;
  vector[D] z;
  vector<lower=0>[D] lam;
  real<lower=0> tau;
  real<lower=0> sigma;
}
transformed parameters { vector[D] b = z .* lam * tau; }
model {
  a ~ normal(0, 5);
  z ~ normal(0, 1);
  lam ~ cauchy(0, 1);
  tau ~ cauchy(0, 0.1);
  sigma ~ normal(0, 2);
  y ~ normal(a + X * b, sigma);
}
