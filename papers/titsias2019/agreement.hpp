// Whether a row agrees with the authors' code run again: acceptance within 0.03, and minimum, median and maximum ESS
// within 4 standard errors, z = difference / (s sqrt(1/n + 1/m)), with s the spread of both codes' repeats:
// they are meant to be one algorithm. z is a t of n + m - 2 degrees of freedom:
// a false alarm of one is 8e-4 for n = m = 10. 0.03 is meant for means of ten repeats; fewer, n,
// are given 0.03 sqrt(10/n). A figure that deviates is explained by standing in known_deviations, by name,
// and by nothing else.
#pragma once
#include "papers/titsias2019/rows.hpp"

namespace kilochain::titsias2019 {

/// A figure that a person has looked at.
struct KnownDeviation {
  std::string name;    ///< target/sampler/figure
  std::string reason;  ///< why it is no fault
};
/// Of the page in docs/results: ten repeats of seed 1. Other seeds, and processors that round otherwise, draw others.
const std::vector<KnownDeviation>& known_deviations();

struct Deviation {
  std::string name;  ///< heart/hmc5/acceptance
  double ours, theirs, z;
  std::string reason;  ///< empty: not explained
  /// "acceptance 0.612 against 0.578 (z = 1.9)"
  std::string text() const;
};

struct Agreement {
  bool tested = false;  ///< the authors' code was measured
  std::vector<Deviation> deviations;
  std::vector<std::string> stale;  ///< known deviations that agree, in as many repeats as the paper's: to be taken out
  bool explained() const;          ///< no deviation is without a reason
};

/// `printed` (Setup::printed): how the row was made to differ from what the authors ran, which explains any deviation.
Agreement agreement_of(const PaperRow& row, const std::vector<Repeat>& repeats, const std::string& printed);

}  // namespace kilochain::titsias2019
