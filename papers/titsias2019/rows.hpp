// One row of a table: the repeats run, timed alone and side by side, and set beside what is known of it.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "papers/titsias2019/repeats.hpp"

namespace kilochain::titsias2019 {

struct Repeat {
  double acceptance, ess_min, ess_median, ess_max;
};
struct Mean {
  double value, sd;  ///< sd: NaN for one repeat
};
Mean mean_of(const std::vector<Repeat>& repeats, double Repeat::*member);

struct RowResult {
  const PaperRow* row = nullptr;
  std::string printed;                           ///< Setup::printed
  Precision real = Precision::double_precision;  ///< Setup::real
  std::vector<Repeat> repeats;
  double seconds = 0;              ///< one repeat alone on one core, warm-up included
  double seconds_batched = 0;      ///< all repeats on one core, divided by their number
  bool seconds_predicted = false;  ///< from a stretch of iterations and the number of gradients: a row that takes long

  Mean min_ess_per_second() const;
};

/// Whether `kilochain` has the sampler that a row needs.
bool has_sampler(const Setup& setup);
/// Runs a row on the calling thread. `tick` is told the fraction done. Returns no repeats when `stop` became true.
RowResult run_row(const PaperRow& row, const Setup& setup, Index repeats, std::uint64_t seed,
                  const std::atomic<bool>& stop, const std::function<void(double)>& tick);

/// The row as the command's JSON has it; `whole` adds spreads, every repeat and how it agrees.
nlohmann::json to_json(const RowResult& result, bool whole);

}  // namespace kilochain::titsias2019
