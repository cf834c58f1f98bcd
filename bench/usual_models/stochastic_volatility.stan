// Log variances that are an autoregression, centred.
data { int T; vector[T] y; }
parameters {
  real mu;
  real<lower=-1, upper=1> phi;
  real<lower=0> sigma;
  vector[T] h;
}
model {
  sigma ~ cauchy(0, 5);
  mu ~ cauchy(0, 10);
  h[1] ~ normal(mu, sigma / sqrt(1 - phi * phi));
  for (t in 2:T) h[t] ~ normal(mu + phi * (h[t - 1] - mu), sigma);
  for (t in 1:T) y[t] ~ normal(0, exp(h[t] / 2));
}
