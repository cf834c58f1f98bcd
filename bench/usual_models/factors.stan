// Two factors of six measurements, with each person's scores.
data { int N; int D; matrix[N, D] y; }
parameters {
  vector[D] m;
  vector<lower=0>[D] sigma;
  vector<lower=0>[2] diagonal;
  vector[2 * D - 3] below;
  matrix[N, 2] f;
}
model {
  matrix[D, 2] L = rep_matrix(0, D, 2);
  int k = 1;
  L[1, 1] = diagonal[1];
  L[2, 2] = diagonal[2];
  for (j in 1:2) for (d in (j + 1):D) { L[d, j] = below[k]; k += 1; }
  m ~ normal(0, 2);
  sigma ~ normal(0, 1);
  diagonal ~ normal(0, 1);
  below ~ normal(0, 1);
  to_vector(f) ~ std_normal();
  for (d in 1:D) y[, d] ~ normal(m[d] + f * L[d]', sigma[d]);
}
