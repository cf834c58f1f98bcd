// Classes in schools in districts, non-centred.
data {
  int N; int D; int S; int C;
  array[S] int district; array[C] int school; array[N] int class_of;
  vector[N] x; vector[N] y;
}
parameters {
  real m;
  real b;
  real<lower=0> s_d;
  real<lower=0> s_s;
  real<lower=0> s_c;
  real<lower=0> sigma;
  vector[D] z_d;
  vector[S] z_s;
  vector[C] z_c;
}
model {
  vector[S] s = s_d * z_d[district] + s_s * z_s;
  vector[C] c = s[school] + s_c * z_c;
  m ~ normal(0, 5);
  b ~ normal(0, 2);
  s_d ~ normal(0, 1);
  s_s ~ normal(0, 1);
  s_c ~ normal(0, 1);
  sigma ~ normal(0, 1);
  z_d ~ std_normal();
  z_s ~ std_normal();
  z_c ~ std_normal();
  y ~ normal(m + b * x + c[class_of], sigma);
}
