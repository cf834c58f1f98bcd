#include "host/frontend/papers.hpp"

namespace kilochain::cli {
namespace {

std::map<std::string, Command>& registered() {
  static std::map<std::string, Command> all;
  return all;
}

}  // namespace

const std::map<std::string, Command>& registered_papers() { return registered(); }

RegisterPaper::RegisterPaper(const Command& paper) { registered().emplace(paper.name, paper); }

}  // namespace kilochain::cli
