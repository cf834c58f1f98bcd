#include "targets/stan/stan_names.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace kilochain {
namespace {

struct Name {
  std::string variable;
  std::vector<std::size_t> at;  ///< from 1; empty of a number
};

/// The variable is what stands before the trailing numbers: of a tuple's part, "t:1", all of it.
Name parsed(std::string name) {
  Name out;
  while (true) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot + 1 == name.size() ||
        name.find_first_not_of("0123456789", dot + 1) != std::string::npos)
      break;
    out.at.insert(out.at.begin(), std::stoul(name.substr(dot + 1)));
    name.erase(dot);
  }
  out.variable = name;
  return out;
}

std::string shown(const Name& name) {
  std::string out = name.variable;
  for (std::size_t k = 0; k < name.at.size(); ++k) out += (k == 0 ? "[" : ",") + std::to_string(name.at[k]);
  return name.at.empty() ? out : out + "]";
}

}  // namespace

StanNames stan_names(const std::string& names) {
  std::vector<Name> all;
  std::istringstream in(names);
  for (std::string name; std::getline(in, name, ',');) all.push_back(parsed(name));
  StanNames out;
  for (std::size_t first = 0, last; first < all.size(); first = last) {
    for (last = first; last < all.size() && all[last].variable == all[first].variable;) ++last;
    std::vector<std::size_t> order(last - first);
    std::iota(order.begin(), order.end(), first);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return all[a].at < all[b].at; });
    out.variables.push_back({all[first].variable, all[order.back()].at});
    for (const std::size_t k : order) {
      out.names.push_back(shown(all[k]));
      out.source.push_back(k);
    }
  }
  return out;
}

}  // namespace kilochain
