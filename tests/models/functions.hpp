// Every function that models may call, to be differentiated one way or another.
#pragma once
#include "model/var.hpp"

namespace kilochain::testing_support {

/// Every function of the header, as a template, with a point where it is smooth.
struct Each {
  template <class F>
  static void visit(F&& f) {
    f("exp", 0.7, [](auto x) { return exp(x); });
    f("expm1", -0.3, [](auto x) { return expm1(x); });
    f("log", 1.7, [](auto x) { return log(x); });
    f("log1p", 0.4, [](auto x) { return log1p(x); });
    f("sqrt", 2.3, [](auto x) { return sqrt(x); });
    f("sin", 0.9, [](auto x) { return sin(x); });
    f("cos", 0.9, [](auto x) { return cos(x); });
    f("tan", 0.4, [](auto x) { return tan(x); });
    f("atan", -1.2, [](auto x) { return atan(x); });
    f("tanh", 0.6, [](auto x) { return tanh(x); });
    f("erf", 0.3, [](auto x) { return erf(x); });
    f("lgamma", 3.6, [](auto x) { return lgamma(x); });
    f("lgamma at small x", 0.4, [](auto x) { return lgamma(x); });
    f("lgamma below 0", -0.4, [](auto x) { return lgamma(x); });
    f("log_erfc", 0.7, [](auto x) { return log_erfc(x); });
    f("log_erfc at 3", 3.0, [](auto x) { return log_erfc(x); });
    f("log_bessel_i0", 1.7, [](auto x) { return log_bessel_i0(x); });
    f("bessel_i1_over_i0", 1.7, [](auto x) { return bessel_i1_over_i0(x); });
    f("fabs", -0.8, [](auto x) { return fabs(x); });
    f("pow to a number", 1.3, [](auto x) { return pow(x, 2.5); });
    f("pow to a variable", 1.3, [](auto x) { return pow(x, x); });
    f("log1p_exp", 1.1, [](auto x) { return log1p_exp(x); });
    f("log1p_exp below 0", -1.1, [](auto x) { return log1p_exp(x); });
    f("inv_logit", 0.8, [](auto x) { return inv_logit(x); });
    f("inv_logit below 0", -0.8, [](auto x) { return inv_logit(x); });
    f("log_inv_logit", 0.8, [](auto x) { return log_inv_logit(x); });
    f("log_sum_exp", 0.5, [](auto x) { return log_sum_exp(x, decltype(x)(2.0 * x)); });
    f("arithmetic", 0.6,
      [](auto x) { return (1.0 - x) / (2.0 + x * x) - x / 3.0 + 2.0 / x - (x - 1.0) * x * 4.0 + (-x); });
  }
};

}  // namespace kilochain::testing_support
