#include "host/run/coordinate_name.hpp"

#include <exception>

namespace kilochain {

std::string name_of_coordinate(const TargetInfo& info, std::int64_t i) try {
  if (!info.constrain) return info.names[static_cast<std::size_t>(i)];
  std::vector<double> x(static_cast<std::size_t>(info.dim)), here(info.names.size()), there = here;
  info.constrain(x.data(), {}, here.data());
  x[static_cast<std::size_t>(i)] = 1;
  info.constrain(x.data(), {}, there.data());
  for (std::size_t k = 0; k < here.size(); ++k)
    if (here[k] != there[k]) return info.names[k];
  return "coordinate " + std::to_string(i);
} catch (const std::exception&) {  // a model's own function
  return "coordinate " + std::to_string(i);
}

}  // namespace kilochain
