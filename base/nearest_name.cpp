#include "base/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace kilochain {
namespace {

// num-chains, num_chains and Num_Chains are the same slip of the pen.
std::string folded(const std::string& name) {
  std::string out = name;
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-') c = '_';
  }
  return out;
}

std::size_t edit_distance(const std::string& a, const std::string& b) {
  // Three rows of the table suffice: a swap looks two rows back.
  std::vector<std::size_t> older(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, substituted});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], older[j - 2] + 1);
      }
    }
    older.swap(previous);
    previous.swap(current);
  }
  return previous[b.size()];
}

/// Whether `part` is one or more whole words of `name`.
bool has_words(const std::string& name, const std::string& part) {
  return !part.empty() && ('_' + name + '_').find('_' + part + '_') != std::string::npos;
}

struct Nearest {
  std::string name;
  double distance = std::numeric_limits<double>::infinity();
};

Nearest nearest(const std::string& wanted, const std::vector<std::string>& known) {
  const std::string target = folded(wanted);
  Nearest best;
  for (const std::string& name : known) {
    const std::string other = folded(name);
    const double slips = static_cast<double>(edit_distance(target, other)),
                 distance = has_words(other, target) ? slips / 1000 : slips;
    if (distance < best.distance) best = {name, distance};
  }
  return best;
}

}  // namespace

std::string near_name(const std::string& wanted, const std::vector<std::string>& known) {
  const Nearest found = nearest(wanted, known);
  const double letters = static_cast<double>(wanted.size());
  return found.distance <= std::min(letters / 2, 1 + letters / 6) ? found.name : "";
}

std::string did_you_mean(const std::string& wanted, const std::vector<std::string>& known,
                         const std::string& otherwise) {
  const std::string near = near_name(wanted, known);
  return near.empty() ? otherwise : "Did you mean " + near + "?";
}

}  // namespace kilochain
