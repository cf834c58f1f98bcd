#include "host/frontend/papers.hpp"

#include <algorithm>

namespace kilochain::cli {
namespace {

std::vector<Command>& registered() {
  static std::vector<Command> all;
  return all;
}

}  // namespace

const std::vector<Command>& registered_papers() { return registered(); }

RegisterPaper::RegisterPaper(Command paper) {
  // In order already here: the linker's order is nobody's.
  const auto after = [](const Command& a, const Command& b) { return a.name < b.name; };
  auto& all = registered();
  all.insert(std::upper_bound(all.begin(), all.end(), paper, after), paper);
}

}  // namespace kilochain::cli
