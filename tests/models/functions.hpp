// Every function that models may call, to be differentiated one way or another.
#pragma once
#include "model/var.hpp"

namespace kilochain::testing_support {

/// Every function of the header, as a template, with a point where it is smooth.
struct Each {
  template <class F>
  static void visit(F&& f) {
    f(
        "exp", [](auto x) { return exp(x); }, 0.7);
    f(
        "expm1", [](auto x) { return expm1(x); }, -0.3);
    f(
        "log", [](auto x) { return log(x); }, 1.7);
    f(
        "log1p", [](auto x) { return log1p(x); }, 0.4);
    f(
        "sqrt", [](auto x) { return sqrt(x); }, 2.3);
    f(
        "sin", [](auto x) { return sin(x); }, 0.9);
    f(
        "cos", [](auto x) { return cos(x); }, 0.9);
    f(
        "tan", [](auto x) { return tan(x); }, 0.4);
    f(
        "atan", [](auto x) { return atan(x); }, -1.2);
    f(
        "tanh", [](auto x) { return tanh(x); }, 0.6);
    f(
        "erf", [](auto x) { return erf(x); }, 0.3);
    f(
        "lgamma", [](auto x) { return lgamma(x); }, 3.6);
    f(
        "lgamma at small x", [](auto x) { return lgamma(x); }, 0.4);
    f(
        "lgamma below 0", [](auto x) { return lgamma(x); }, -0.4);
    f(
        "fabs", [](auto x) { return fabs(x); }, -0.8);
    f(
        "pow to a number", [](auto x) { return pow(x, 2.5); }, 1.3);
    f(
        "pow to a variable", [](auto x) { return pow(x, x); }, 1.3);
    f(
        "log1p_exp", [](auto x) { return log1p_exp(x); }, 1.1);
    f(
        "log1p_exp below 0", [](auto x) { return log1p_exp(x); }, -1.1);
    f(
        "inv_logit", [](auto x) { return inv_logit(x); }, 0.8);
    f(
        "inv_logit below 0", [](auto x) { return inv_logit(x); }, -0.8);
    f(
        "log_inv_logit", [](auto x) { return log_inv_logit(x); }, 0.8);
    f(
        "log_sum_exp", [](auto x) { return log_sum_exp(x, decltype(x)(2.0 * x)); }, 0.5);
    f(
        "arithmetic", [](auto x) { return (1.0 - x) / (2.0 + x * x) - x / 3.0 + 2.0 / x - (x - 1.0) * x * 4.0 + (-x); },
        0.6);
  }
};

}  // namespace kilochain::testing_support
