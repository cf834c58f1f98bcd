#include "targets/external/rejections.hpp"

#include <fmt/format.h>

namespace kilochain {

void Rejections::add(const std::string& why) {
  if (count_++ > 0) return;
  const std::lock_guard lock(mutex_);
  first_ = why;
}

std::vector<std::string> Rejections::notes(const std::string& what) const {
  if (count() == 0) return {};
  const std::lock_guard lock(mutex_);
  return {fmt::format("{} {}{}", count(), what, first_.empty() ? "" : "; the first: " + first_)};
}

}  // namespace kilochain
