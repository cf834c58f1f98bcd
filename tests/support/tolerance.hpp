// The three tolerances that tests may use. exact: the same bits. rounding: c n eps times the size of what was added up,
// with the constant written where it is used. statistical: z standard errors, with the false-alarm rate written beside
// it.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace kilochain::testing_support {

template <class T>
::testing::AssertionResult exact(const std::vector<T>& got, const std::vector<T>& want) {
  if (got.size() != want.size())
    return ::testing::AssertionFailure() << "sizes " << got.size() << " and " << want.size();
  for (std::size_t k = 0; k < got.size(); ++k)
    if (std::memcmp(&got[k], &want[k], sizeof(T)) != 0)
      return ::testing::AssertionFailure()
             << "element " << k << " of " << got.size() << ": got " << +got[k] << ", want " << +want[k];
  return ::testing::AssertionSuccess();
}

/// |got - want| <= c n eps(Real) scale; scale: the sum of the magnitudes of the n terms, or what stands for it.
template <class Real>
::testing::AssertionResult rounding(double got, double want, double c, double n, double scale) {
  const double allowed = c * n * static_cast<double>(std::numeric_limits<Real>::epsilon()) * scale;
  if (std::abs(got - want) <= allowed) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << got << ", want " << want << ", off by " << std::abs(got - want)
                                       << ", allowed " << allowed;
}

/// |got - want| <= z standard errors. Two-sided false-alarm rate of one comparison: z = 4: 6.3e-5, z = 5: 5.7e-7.
inline ::testing::AssertionResult statistical(double got, double want, double standard_error, double z) {
  if (std::abs(got - want) <= z * standard_error) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << got << ", want " << want << ", " << (got - want) / standard_error
                                       << " standard errors off";
}

}  // namespace kilochain::testing_support
