#include "model/layout.hpp"

#include <cstring>

#include "base/error.hpp"
#include "model/arrays.hpp"

namespace kilochain {
namespace {

constexpr const char* kind_names[] = {
    "real",      "reals",    "positive",          "positives", "lower",         "upper",
    "interval",  "ordered",  "positive_ordered",  "simplex",   "lowers",        "uppers",
    "intervals", "ordereds", "positive_ordereds", "simplexes", "cholesky_corr", "report",
    "report"};

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
  block.recorded = names_.emplace_back(block.given).c_str();
  all_.push_back(block);
  num_values_ += block.size;
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
  if (!stands(all, at_, block)) variables_->throw_other(all, at_, block);
  ++at_;
  double* const to = values_;
  values_ += block.size;
  return to;
}

double* Recorder::take(Index count, const char* name) {
  require(count > 0, ExitStatus::usage, std::string("model: \"") + name + "\" is an array of " + std::to_string(count),
          "an array has at least one element", "Are the data there?");
  return room_.emplace_back(static_cast<std::size_t>(count)).data();
}

void Recorder::finish(Index room) const {
  if (found_) found_->set_room(room);
  if (!found_ && at_ < variables_->all().size()) variables_->throw_fewer(variables_->all(), at_);
}

}  // namespace kilochain
