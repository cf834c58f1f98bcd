// One row of a table: the repeats run, timed alone and side by side, and set beside what is known of it.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "host/statistics/series.hpp"
#include "papers/titsias2019/repeats.hpp"

namespace kilochain::titsias2019 {

struct Repeat {
  double acceptance, ess_min, ess_median, ess_max;
};
/// A figure of a repeat wherever it appears: ours, the mean of paper or authors' code, and the latter's spread.
struct Figure {
  const char *name, *words;
  int digits;
  double Repeat::*ours;
  double Figures::*theirs;
  double Measured::*their_sd;
};
inline constexpr Figure figures[] = {
    {"acceptance", "acceptance", 3, &Repeat::acceptance, &Figures::acceptance, &Measured::acceptance_sd},
    {"ess_min", "ESS min", 1, &Repeat::ess_min, &Figures::ess_min, &Measured::ess_min_sd},
    {"ess_median", "ESS median", 1, &Repeat::ess_median, &Figures::ess_median, &Measured::ess_median_sd},
    {"ess_max", "ESS max", 1, &Repeat::ess_max, &Figures::ess_max, &Measured::ess_max_sd}};

Moments moments(const std::vector<Repeat>& repeats, double Repeat::*member);

struct RowResult {
  const PaperRow* row = nullptr;
  std::string printed;                           ///< Setup::printed
  Precision real = Precision::double_precision;  ///< Setup::real
  std::vector<Repeat> repeats;
  double seconds = 0;              ///< one repeat alone on one core, warm-up included
  double seconds_batched = 0;      ///< all repeats on one core, divided by their number
  bool seconds_predicted = false;  ///< from a stretch of iterations and the number of gradients: a row that takes long

  Moments min_ess_per_second() const;
};

/// Runs a row on the calling thread. `tick` is called with the fraction done.
/// Returns no repeats when `stop` became true.
RowResult run_row(const PaperRow& row, const Setup& setup, Index repeats, std::uint64_t seed,
                  const std::atomic<bool>& stop, const std::function<void(double)>& tick);

/// The row as its page keeps it, with spreads, every repeat and how it agrees; and as --json prints it, without these.
nlohmann::json to_json(const RowResult& result);
nlohmann::json brief(nlohmann::json row);

}  // namespace kilochain::titsias2019
