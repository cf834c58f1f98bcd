// Item response with free discriminations: abilities and they may change sign.
data { int I; int J; array[J, I] int<lower=0, upper=1> y; }
parameters {
  vector[J] theta;
  vector[I] alpha;
  vector[I] beta;
}
model {
  theta ~ std_normal();
  alpha ~ normal(0, 2);
  beta ~ normal(0, 2);
  for (j in 1:J) y[j] ~ bernoulli_logit(alpha * theta[j] + beta);
}
