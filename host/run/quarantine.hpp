// The chains of a run that turned non-finite, by the iteration in which they did, then by chain: when that was noticed
// does not matter.
#pragma once
#include "host/chains/chains.hpp"
#include "host/run/run.hpp"

namespace kilochain {

class Quarantine {
 public:
  /// Takes those of the chains first, first + 1, ... that are not known yet.
  void note(const std::vector<ChainControl>& controls, std::int64_t first);
  const std::vector<QuarantinedChain>& list() const { return list_; }
  std::int64_t size() const { return std::ssize(list_); }
  std::vector<std::int64_t> chains() const;  ///< ascending

 private:
  std::vector<QuarantinedChain> list_;
};

}  // namespace kilochain
