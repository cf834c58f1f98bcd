// Rates of 71 groups and their beta law, all as parameters.
data { int J; array[J] int n; array[J] int y; }
parameters {
  real<lower=0> alpha;
  real<lower=0> beta;
  vector<lower=0, upper=1>[J] theta;
}
model {
  target += -2.5 * log(alpha + beta);
  theta ~ beta(alpha, beta);
  y ~ binomial(n, theta);
}
