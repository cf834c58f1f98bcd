// A model that is given plain pointers, evaluated between guards: what it reads or writes outside them is noticed.
#pragma once
#include <functional>

#include "kernels/device/platform.hpp"

namespace kilochain {

/// Evaluates lp(x) with different numbers beside the n coordinates x. Throws an Error when the value depends on them.
/// meaning: the model's, for the message.
void check_value(const char* meaning, Index n, const double* x, const std::function<double(const double*)>& lp);

/// The same of lp(x, gradient), and of the gradient: an Error too when an element is not set, or when something beside
/// them is. Guards are 64 numbers on either side.
void check_gradient(const char* meaning, Index n, const double* x,
                    const std::function<double(const double*, double*)>& lp);

}  // namespace kilochain
