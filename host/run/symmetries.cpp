#include "host/run/symmetries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "host/run/coordinate_name.hpp"
#include "kernels/random/draw.hpp"

namespace kilochain {

Symmetries::Symmetries(const TargetInfo& info, std::vector<Stage> stages, std::vector<double> reference)
    : info_(&info), stages_(std::move(stages)), reference_(std::move(reference)) {}

double Symmetries::images() const {
  double count = 1;
  for (const Stage& stage : stages_) count *= 1 + static_cast<double>(stage.size());
  return count;
}

void Symmetries::apply(const Swap& swap, double* x) const {
  std::vector<double> to(x, x + info_->dim);
  if (!swap.values.empty()) {
    std::vector<double> values(info_->names.size());
    info_->parameters->of_point(x, values.data());
    for (const auto& [a, b] : swap.values) std::swap(values[a], values[b]);
    if (!info_->parameters->to_point(values.data(), to.data())) return;
  }
  for (const auto& [a, b] : swap.coordinates) std::swap(to[a], to[b]);
  for (const std::size_t i : swap.signs) to[i] = -to[i];
  if (std::ranges::all_of(to, [](double v) { return std::isfinite(v); })) std::ranges::copy(to, x);
}

void Symmetries::at_random(double* x, const DrawId& draw) const {
  const Rng rng{draw.seed, static_cast<std::uint32_t>(draw.chain), draw.draw};
  for (std::uint32_t k = 0; k < stages_.size(); ++k) {
    const Stage& stage = stages_[k];
    const std::size_t one = uniform_index(rng, Purpose::relabelling, k, static_cast<std::uint32_t>(stage.size() + 1));
    if (one < stage.size()) apply(stage[one], x);
  }
}

double Symmetries::distance(const double* x) const {
  double sum = 0;
  for (std::size_t i = 0; i < reference_.size(); ++i) sum += (x[i] - reference_[i]) * (x[i] - reference_[i]);
  return sum;
}

std::vector<const Swap*> Symmetries::gather(double* x) const {
  std::vector<const Swap*> way;
  std::vector<double> to;
  double nearest = distance(x);
  for (bool nearer = true; nearer;) {
    nearer = false;
    for (const Stage& stage : stages_)
      for (const Swap& swap : stage) {
        to.assign(x, x + reference_.size());
        apply(swap, to.data());
        const double there = distance(to.data());
        if (!(there < nearest - 1e-9 * (1 + nearest))) continue;
        nearest = there, nearer = true;
        std::ranges::copy(to, x);
        way.push_back(&swap);
      }
  }
  return way;
}

std::string Symmetries::told() const {
  const auto listed = [](std::vector<std::string> names) {
    constexpr std::size_t most = 3;
    const bool more = names.size() > most;
    if (more) names.resize(most);
    return fmt::format("{}{}", fmt::join(names, ", "), more ? ", ..." : "");
  };
  const auto name = [&](std::size_t i) { return name_of_coordinate(*info_, static_cast<std::int64_t>(i)); };
  std::vector<std::string> swaps, signs;
  for (const Stage& stage : stages_)
    for (const Swap& swap : stage) {
      std::vector<std::string> pairs, changed;
      std::set<std::string> variables;  // of each the first pair
      const auto list = [&](const std::string& a, const std::string& b) {
        if (variables.insert(a.substr(0, a.find('['))).second) pairs.push_back(a + " with " + b);
      };
      for (const auto& [a, b] : swap.values) list(info_->names[a], info_->names[b]);
      for (const auto& [a, b] : swap.coordinates) list(name(a), name(b));
      for (const std::size_t i : swap.signs) changed.push_back(name(i));
      if (!pairs.empty() && !changed.empty()) pairs.front() += " and the sign of " + changed.front();
      (pairs.empty() ? signs : swaps).push_back(listed(pairs.empty() ? changed : pairs));
    }
  std::string what = swaps.empty() ? "" : fmt::format("swaps ({}{})", swaps[0], swaps.size() > 1 ? "; ..." : "");
  if (!signs.empty())
    what += fmt::format("{}changes of sign ({}{})", what.empty() ? "" : ", and of ", signs[0],
                        signs.size() > 1 ? "; ..." : "");
  return fmt::format("{:.6g} equal ones: the posterior is the same after {}", images(), what);
}

std::vector<double> Symmetries::to_numbers() const {
  if (!any()) return {};
  std::vector<double> out = {static_cast<double>(stages_.size())};
  const auto put = [&](std::size_t v) { out.push_back(static_cast<double>(v)); };
  for (const Stage& stage : stages_) {
    put(stage.size());
    for (const Swap& swap : stage) {
      for (const Swap::Pairs* const pairs : {&swap.values, &swap.coordinates}) {
        put(pairs->size());
        for (const auto& [a, b] : *pairs) put(a), put(b);
      }
      put(swap.signs.size());
      for (const std::size_t i : swap.signs) put(i);
    }
  }
  out.insert(out.end(), reference_.begin(), reference_.end());
  return out;
}

Symmetries Symmetries::of_numbers(const TargetInfo& info, const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  std::size_t at = 0;
  const auto take = [&] { return static_cast<std::size_t>(numbers.at(at++)); };
  std::vector<Stage> stages(take());
  for (Stage& stage : stages) {
    stage.resize(take());
    for (Swap& swap : stage) {
      for (Swap::Pairs* const pairs : {&swap.values, &swap.coordinates}) {
        pairs->resize(take());
        for (auto& [a, b] : *pairs) a = take(), b = take();
      }
      swap.signs.resize(take());
      for (std::size_t& i : swap.signs) i = take();
    }
  }
  return {info, std::move(stages), {numbers.begin() + static_cast<std::ptrdiff_t>(at), numbers.end()}};
}

}  // namespace kilochain
