// One factor of six measurements, whose sign nobody knows, with each person's score.
data { int N; int D; matrix[N, D] y; }
parameters {
  vector[N] f;
  vector[D] loading;
  vector[D] m;
  vector<lower=0>[D] sigma;
}
model {
  f ~ std_normal();
  loading ~ normal(0, 1);
  m ~ normal(0, 1);
  sigma ~ normal(0, 1);
  for (d in 1:D) y[, d] ~ normal(m[d] + loading[d] * f, sigma[d]);
}
