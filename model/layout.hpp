// What a model reads: its variables, recorded once when the target is made, and what every evaluation is held to.
// On the CPU each read is compared with the record: position, kind, size and name, a few integers a variable. Another
// one is an Error that names both. A device compares the number of coordinates and a sum over kinds and sizes; where
// they differ nothing is read past the end and the log density is NaN.
#pragma once
#include <deque>
#include <string>
#include <vector>

#include "model/arrays.hpp"
#include "model/predictive.hpp"

namespace kilochain {

enum class Kind : std::uint8_t {
  real,
  reals,
  positive,
  positives,
  lower,
  upper,
  interval,
  ordered,
  positive_ordered,
  simplex,
  lowers,
  uppers,
  intervals,
  ordereds,
  positive_ordereds,
  simplexes,
  cholesky_corr,
  report,
  reports,
  predictions,
  log_likelihood
};
KC_INLINE bool is_array(Kind k) {
  return k == Kind::reals || k == Kind::positives || k >= Kind::reports ||
         (k >= Kind::ordered && k <= Kind::cholesky_corr);
}
KC_INLINE bool is_parameter(Kind k) { return k < Kind::report; }
/// Of a group beside the posterior, and behind it among the values.
KC_INLINE bool is_apart(Kind k) { return k >= Kind::predictions; }

/// One variable. `given` is the caller's name, most likely a literal: equal pointers say so without reading it.
struct Block {
  const char* given;
  Index size;         ///< values; 1 for a number
  Index coordinates;  ///< that it takes
  Kind kind;
  Index columns = 0;                    ///< of a matrix, whose rows stand one after the other
  const char* recorded = nullptr;       ///< the record's own copy of the name
  const DataArray* observed = nullptr;  ///< of a prediction, while it is added
};

/// A sum over the kinds and sizes that were read, in their order (Fowler, Noll and Vo's hash, 32 bits).
KC_INLINE std::uint32_t read_more(std::uint32_t sum, Kind kind, Index size) {
  return (sum ^ (static_cast<std::uint32_t>(size) << 5 | static_cast<std::uint32_t>(kind))) * 16777619u;
}
inline constexpr std::uint32_t nothing_read = 2166136261u;

/// The variables of a model on the host, in the order in which it reads and reports them.
class Variables {
 public:
  explicit Variables(std::string model) : model_(std::move(model)) {}
  /// The first evaluation's. Throws an Error for a name that is there already and for an array without elements.
  void add(Block block);
  const std::vector<Block>& all() const { return all_; }
  bool has_likelihood() const { return !all_.empty() && all_.back().kind == Kind::log_likelihood; }
  const std::vector<Block>& parameters() const { return parameters_; }
  Index num_coordinates() const { return num_coordinates_; }
  /// What predictions are beside.
  const std::vector<DataArray>& observed() const { return observed_; }
  Index num_values() const { return num_values_; }
  /// How many of all() are the posterior's, and of their values: they stand first.
  std::size_t num_posterior() const { return num_posterior_; }
  Index num_posterior_values() const { return num_posterior_values_; }
  std::uint32_t sum() const { return sum_; }
  /// Numbers that an evaluation keeps in arrays whose length it learns from data (model/room.hpp).
  Index room() const { return room_; }
  void set_room(Index room) { room_ = room; }

  /// An evaluation read `block` where the record has another or none; `at`: among all() or parameters().
  [[noreturn]] void throw_other(const std::vector<Block>& recorded, std::size_t at, const Block& block) const;
  /// It read `count` parameters, or reported until `count` variables, and ended.
  [[noreturn]] void throw_fewer(const std::vector<Block>& recorded, std::size_t count) const;
  /// It wanted `wanted` numbers for array `name`, more in all than in the first evaluation.
  [[noreturn]] void throw_room(const char* name, Index wanted) const;

 private:
  std::string model_;
  std::deque<std::string> names_;
  std::vector<Block> all_, parameters_;
  std::vector<DataArray> observed_;
  Index num_coordinates_ = 0, num_values_ = 0, num_posterior_values_ = 0, room_ = 0;
  std::size_t num_posterior_ = 0;
  std::uint32_t sum_ = nothing_read;
};

/// Throws an Error when the parameter that was read as number `at` is not the one on record. What the quick comparison
/// leaves to be compared as texts comes here; by value, so that nothing of the evaluation has to stay in memory.
__attribute__((cold)) void compare_names(const Variables* variables, Index at, const char* name, Index size,
                                         Index coordinates, Kind kind, Index columns);

/// The same as evaluations have it. Plain memory: it travels to devices, which do not follow the pointers.
struct Layout {
  const Variables* variables = nullptr;  ///< null: on a device
  const Block* parameters = nullptr;
  Index num_parameters = 0, num_coordinates = 0, room = 0;
  std::uint32_t sum = nothing_read;
  bool prior_only = false;  ///< log_likelihood adds nothing

  Layout() = default;
  explicit Layout(const Variables& v)
      : variables(&v),
        parameters(v.parameters().data()),
        num_parameters(static_cast<Index>(v.parameters().size())),
        num_coordinates(v.num_coordinates()),
        room(v.room()),
        sum(v.sum()) {}
};

/// One evaluation that records: the first of all, which finds the variables, or one whose values are wanted.
class Recorder {
 public:
  explicit Recorder(Variables& found) : found_(&found), variables_(&found) {}
  /// values: (num_values), without log likelihoods where prior_only. Predictions are those of `rng`.
  Recorder(const Variables& variables, double* values, const PredictiveRng& rng = {0, 0, 0}, bool prior_only = false)
      : variables_(&variables),
        values_(values),
        apart_(values + variables.num_posterior_values()),
        end_(prior_only ? nullptr : values + variables.num_values()),
        rng_(rng),
        apart_at_(variables.num_posterior()) {}
  /// Where the values of the next variable go; null in the first evaluation.
  double* next(const Block& block);
  /// Room for `count` numbers until the evaluation has ended.
  double* take(Index count, const char* name);
  /// room: the most numbers that it held at a time.
  /// log p(observation i | parameters): each of 0 .. n - 1 once.
  void log_likelihood(Index i, double value);
  PredictiveRng& rng() { return rng_; }
  void finish(Index room);
  bool finds() const { return found_ != nullptr; }

 private:
  Variables* found_ = nullptr;
  const Variables* variables_;
  double *values_ = nullptr, *apart_ = nullptr, *end_ = nullptr;
  PredictiveRng rng_{0, 0, 0};
  std::size_t at_ = 0, apart_at_ = 0;
  Index likelihoods_ = 0, most_ = 0;  ///< calls of log_likelihood, and the largest i + 1 among them
  std::deque<std::vector<double>> room_;
};

}  // namespace kilochain
