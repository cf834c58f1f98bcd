// People of three classes, which nobody sees, and their answers to eight questions.
data { int N; int J; int K; array[N, J] int<lower=0, upper=1> y; }
parameters {
  simplex[K] w;
  array[K] vector<lower=0, upper=1>[J] p;
}
model {
  w ~ dirichlet(rep_vector(5, K));
  for (k in 1:K) p[k] ~ beta(1.5, 1.5);
  for (n in 1:N) {
    vector[K] l = log(w);
    for (k in 1:K) l[k] += bernoulli_lpmf(y[n] | p[k]);
    target += log_sum_exp(l);
  }
}
