// Tails so heavy that no mean exists.
parameters { vector[10] x; }
model { x ~ cauchy(0, 1); }
