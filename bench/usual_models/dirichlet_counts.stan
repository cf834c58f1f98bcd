// Shares of each group about common ones: Dirichlet and multinomial.
data { int J; int K; array[J, K] int y; }
parameters {
  simplex[K] m;
  real<lower=0> conc;
  array[J] simplex[K] p;
}
model {
  conc ~ gamma(2, 0.1);
  for (j in 1:J) {
    p[j] ~ dirichlet(conc * m);
    y[j] ~ multinomial(p[j]);
  }
}
