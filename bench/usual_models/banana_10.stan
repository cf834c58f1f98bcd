// Five curved ridges.
parameters { vector[10] x; }
model {
  for (i in 1:5) {
    x[2 * i - 1] ~ normal(1, 1);
    x[2 * i] ~ normal(square(x[2 * i - 1]), 0.1);
  }
}
