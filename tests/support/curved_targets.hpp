// Targets of even, odd and one dimension whose curvature is not the same everywhere, for gradients of an adaptation.
#pragma once
#include "host/registry/registry.hpp"

namespace kilochain::testing_support {

struct CurvedTarget {
  const char* target;
  SettingTexts settings;
};
inline const CurvedTarget curved_targets[] = {{"banana", {{"dim", "4"}, {"bend", "0.3"}, {"variance", "2"}}},
                                              {"gaussian_mixture", {{"dim", "9"}, {"means", "-1; 1, 1; 0, 2"}}},
                                              {"gaussian_mixture", {{"dim", "1"}, {"means", "-1; 1"}}}};

}  // namespace kilochain::testing_support
