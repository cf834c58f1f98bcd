// A level that walks at random, seen with noise.
data { int T; vector[T] y; }
parameters { vector[T] x; real<lower=0> q; real<lower=0> r; }
model {
  q ~ normal(0, 1);
  r ~ normal(0, 1);
  x[1] ~ normal(0, 5);
  x[2:T] ~ normal(x[1:T - 1], q);
  y ~ normal(x, r);
}
