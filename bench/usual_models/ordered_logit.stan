// An ordered response of five classes.
data { int N; int K; int C; matrix[N, K] X; array[N] int y; }
parameters {
  vector[K] b;
  ordered[C - 1] c;
}
model {
  b ~ normal(0, 2);
  c ~ normal(0, 5);
  y ~ ordered_logistic(X * b, c);
}
