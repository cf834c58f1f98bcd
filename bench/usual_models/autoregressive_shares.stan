// Shares that follow an autoregression, non-centred; counts out of n.
data { int T; array[T] int n; array[T] int y; }
parameters {
  real m;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
  vector[T] z;
}
model {
  vector[T] x;
  m ~ normal(0, 2);
  phi ~ normal(0.5, 0.5);
  sigma ~ normal(0, 1);
  z ~ std_normal();
  x[1] = m + sigma / sqrt(1 - phi^2) * z[1];
  for (t in 2:T) x[t] = m + phi * (x[t - 1] - m) + sigma * z[t];
  y ~ binomial_logit(n, x);
}
