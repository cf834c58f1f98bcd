#include "model/layout.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.hpp"
#include "model/arrays.hpp"

namespace kilochain {
namespace {

constexpr const char* kind_names[] = {
    "real",      "reals",    "positive",          "positives", "lower",         "upper",
    "interval",  "ordered",  "positive_ordered",  "simplex",   "lowers",        "uppers",
    "intervals", "ordereds", "positive_ordereds", "simplexes", "cholesky_corr", "report",
    "report",    "predict",  "log_likelihood"};

const char* name(const Block& b) { return b.recorded ? b.recorded : b.given; }
/// reals "z" of 8
std::string text(const Block& b) {
  std::string out = std::string(kind_names[static_cast<std::size_t>(b.kind)]) + " \"" + name(b) + "\"";
  return is_array(b.kind) ? out + " of " + std::to_string(b.size) : out;
}
std::string list(const std::vector<Block>& blocks) {
  std::string out;
  for (std::size_t k = 0; k < blocks.size() && k < 12; ++k) out += (k ? ", " : "") + text(blocks[k]);
  return blocks.size() > 12 ? out + ", ..." : out;
}
bool stands(const std::vector<Block>& recorded, std::size_t at, const Block& block) {
  if (at >= recorded.size()) return false;
  const Block& b = recorded[at];
  return b.kind == block.kind && b.size == block.size && b.columns == block.columns &&
         std::strcmp(b.recorded, block.given) == 0;
}
constexpr const char* same_always =
    "Read the same parameters in the same order every time, and put the condition around their use?";

}  // namespace

namespace model_detail {

void throw_index(const char* array, Index i, Index length) {
  throw Error(ExitStatus::usage, "model: index " + std::to_string(i) + " of \"" + array + "\" is out of range",
              "it has " + std::to_string(length) + " elements, 0 to " + std::to_string(length - 1),
              "Does a loop in log_density run too far, or is the array shorter than it should be?");
}
void throw_length(const char* array, Index length, Index wanted) {
  throw Error(ExitStatus::usage, std::string("model: \"") + array + "\" has the wrong length for a dot product",
              std::to_string(length) + " elements, " + std::to_string(wanted) + " on the other side",
              "Is a row as long as its coefficients?");
}

}  // namespace model_detail

void Variables::add(Block block) {
  for (const Block& b : all_)
    require(std::strcmp(b.recorded, block.given) != 0, ExitStatus::usage,
            "model \"" + model_ + "\": two variables are named \"" + block.given + "\"",
            text(b) + ", then " + text(block), "Read a parameter once and give each variable a name of its own?");
  require(block.size > 0, ExitStatus::usage, "model \"" + model_ + "\": " + text(block),
          "an array has at least one element", "Are the data there?");
  if (block.observed && std::none_of(observed_.begin(), observed_.end(), [&](const DataArray& y) {
        return std::strcmp(y.name(), block.observed->name()) == 0;
      }))
    observed_.push_back(*block.observed);
  block.observed = nullptr;
  block.recorded = names_.emplace_back(block.given).c_str();
  num_values_ += block.size;
  if (is_apart(block.kind)) {
    all_.push_back(block);
    return;
  }
  all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(num_posterior_++), block);
  num_posterior_values_ += block.size;
  if (!is_parameter(block.kind)) return;
  parameters_.push_back(block);
  num_coordinates_ += block.coordinates;
  sum_ = read_more(sum_, block.kind, block.size);
}

void Variables::throw_other(const std::vector<Block>& recorded, std::size_t at, const Block& block) const {
  throw Error(ExitStatus::usage,
              "model \"" + model_ + "\" reads " + text(block) + ", which it did not read there before",
              (at < recorded.size() ? "before it was " + text(recorded[at]) : std::string("before it read no more")) +
                  "; it reads " + list(parameters_),
              same_always);
}

void Variables::throw_fewer(const std::vector<Block>& recorded, std::size_t count) const {
  throw Error(ExitStatus::usage,
              "model \"" + model_ + "\" does not read " + text(recorded[count]) + ", which it read before",
              "it reads " + list(parameters_), same_always);
}

void Variables::throw_room(const char* name, Index wanted) const {
  throw Error(ExitStatus::usage, "model \"" + model_ + "\" takes more room for arrays than before",
              std::to_string(wanted) + " numbers for \"" + name + "\", " + std::to_string(room_) + " in all before",
              "Do its arrays have the same lengths every time?");
}

void compare_names(const Variables* variables, Index at, const char* name, Index size, Index coordinates, Kind kind,
                   Index columns) {
  const Block block{name, size, coordinates, kind, columns};
  const auto& recorded = variables->parameters();
  if (!stands(recorded, static_cast<std::size_t>(at), block))
    variables->throw_other(recorded, static_cast<std::size_t>(at), block);
}

double* Recorder::next(const Block& block) {
  if (found_) {
    found_->add(block);
    return nullptr;
  }
  const auto& all = variables_->all();
  const bool apart = is_apart(block.kind);
  std::size_t& at = apart ? apart_at_ : at_;
  if (!stands(all, at, block)) variables_->throw_other(all, at, block);
  ++at;
  double*& values = apart ? apart_ : values_;
  double* const to = values;
  values += block.size;
  return to;
}

void Recorder::log_likelihood(Index i, double value) {
  const Block* const last = found_ || variables_->all().empty() ? nullptr : &variables_->all().back();
  const Index n = found_                                       ? std::numeric_limits<Index>::max()
                  : last && last->kind == Kind::log_likelihood ? last->size
                                                               : 0;
  require(i >= 0 && i < n, ExitStatus::usage, "model: log_likelihood(" + std::to_string(i) + ", ...) is out of range",
          found_ ? "indices begin with 0" : "the first evaluation had " + std::to_string(n),
          "Does a loop run too far, or depend on parameters?");
  ++likelihoods_;
  most_ = std::max(most_, i + 1);
  if (end_) end_[i - n] = value;
}

double* Recorder::take(Index count, const char* name) {
  require(count > 0, ExitStatus::usage, std::string("model: \"") + name + "\" is an array of " + std::to_string(count),
          "an array has at least one element", "Are the data there?");
  return room_.emplace_back(static_cast<std::size_t>(count)).data();
}

void Recorder::finish(Index room) {
  require(likelihoods_ == most_, ExitStatus::usage, "model: log_likelihood is not called once for each observation",
          std::to_string(likelihoods_) + " calls, the largest index is " + std::to_string(most_ - 1),
          "Call it for each of 0, 1, ... once?");
  if (found_) {
    if (most_ > 0) found_->add({"log_likelihood", most_, 0, Kind::log_likelihood});
    found_->set_room(room);
    return;
  }
  const auto& all = variables_->all();
  if (at_ < variables_->num_posterior()) variables_->throw_fewer(all, at_);
  const bool whole = most_ > 0 && most_ == all.back().size;
  if (apart_at_ + whole < all.size()) variables_->throw_fewer(all, apart_at_);
}

}  // namespace kilochain
