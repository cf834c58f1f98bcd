// Eight schools' effects of coaching, each estimated with a known error, and what they have in common.
data {
  int<lower=1> J;
  vector[J] y;
  vector<lower=0>[J] sigma;
}
parameters {
  real mu;
  real<lower=0> tau;
  vector[J] z;
}
transformed parameters {
  vector[J] theta = mu + tau * z;
}
model {
  mu ~ normal(0, 5);
  tau ~ cauchy(0, 5);
  z ~ std_normal();
  y ~ normal(theta, sigma);
}
generated quantities {
  array[J] real predicted = normal_rng(theta, sigma);
}
