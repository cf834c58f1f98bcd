// Three hidden states that may swap.
data { int T; int K; vector[T] y; }
parameters {
  array[K] simplex[K] P;
  vector[K] m;
  vector<lower=0>[K] sigma;
}
model {
  matrix[K, K] moves;
  matrix[K, T] lp;
  m ~ normal(0, 5);
  sigma ~ normal(0, 2);
  for (k in 1:K) moves[k] = P[k]';
  for (t in 1:T) for (k in 1:K) lp[k, t] = normal_lpdf(y[t] | m[k], sigma[k]);
  target += hmm_marginal(lp, moves, rep_vector(1.0 / K, K));
}
