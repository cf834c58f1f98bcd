// Persons answer items: abilities and difficulties, each with its sd.
data { int I; int J; int N; array[N] int item; array[N] int person; array[N] int y; }
parameters {
  vector[J] theta;
  vector[I] beta;
  real m;
  real<lower=0> s_beta;
  real<lower=0> s_theta;
}
model {
  m ~ normal(0, 2);
  s_beta ~ cauchy(0, 2);
  s_theta ~ cauchy(0, 2);
  theta ~ normal(0, s_theta);
  beta ~ normal(m, s_beta);
  y ~ bernoulli_logit(theta[person] - beta[item]);
}
