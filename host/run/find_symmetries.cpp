#include "host/run/find_symmetries.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <optional>

namespace kilochain {
namespace {

constexpr std::size_t most_tried = 200, most_labels = 16, most_flipped = 3, most_probabilities = 3;
constexpr std::size_t most_to_probe = 512;           // coordinates: whose values are asked for one by one
constexpr double same = 1e-8, same_in_float = 1e-6;  // of log densities: relative
constexpr double apart = 3;                          // in nats
constexpr std::size_t looked_at = 4;                 // of the highest places: whose log densities are asked for
constexpr std::size_t tell_a_gap = 12;               // places
constexpr double gap = 4;  // their mean distance from the middle, in its sds; of twelve normal draws 1 in 13 000

std::size_t product(const std::vector<std::size_t>& shape, std::size_t from, std::size_t to) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(from),
                         shape.begin() + static_cast<std::ptrdiff_t>(to), std::size_t(1), std::multiplies<>());
}

/// An axis of a variable whose first value is `offset`.
struct Axis {
  std::size_t variable, offset, outer, length, inner;

  std::size_t value(std::size_t o, std::size_t k, std::size_t i) const { return offset + (o * length + k) * inner + i; }
};

struct Name {
  std::string stem;
  std::vector<std::size_t> at;
};
/// "A[2,1]", "mu.3" and "mu_3" are values of arrays; another name is a number's.
Name parsed(std::string name) {
  Name out;
  if (name.ends_with(']')) name.pop_back();
  while (true) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == 0 || digits == name.size() || name.size() - digits > 9 || !std::strchr("[,._", name[digits - 1]))
      break;
    out.at.insert(out.at.begin(), std::stoul(name.substr(digits)));
    name.resize(digits - 1);
  }
  out.stem = name;
  return out;
}
/// Arrays of names that follow each other, row by row.
std::vector<Variable> variables_of(const std::vector<std::string>& names) {
  std::vector<Variable> out;
  for (std::size_t first = 0, last = 0; first < names.size(); first = last) {
    const Name from = parsed(names[first]);
    Name to = from;
    for (last = first + 1; last < names.size() && !from.at.empty(); ++last) {
      const Name next = parsed(names[last]);
      if (next.stem != from.stem || next.at.size() != from.at.size()) break;
      to = next;
    }
    std::vector<std::size_t> shape;
    for (std::size_t a = 0; a < from.at.size(); ++a) shape.push_back(to.at[a] - from.at[a] + 1);
    if (product(shape, 0, shape.size()) != last - first) shape = {last - first};
    out.push_back({from.stem, std::move(shape), "posterior"});
  }
  return out;
}

/// The coordinate that alone makes a value, where there is one and it makes no other; else -1.
using Owners = std::vector<std::ptrdiff_t>;

class Finder {
 public:
  /// log_densities: of points (dim) each.
  using LogDensities = std::function<std::vector<double>(const std::vector<std::vector<double>>&)>;

  Finder(const TargetInfo& info, LogDensities log_densities, std::vector<std::vector<double>> starts,
         std::vector<std::vector<double>> ends)
      : info_(info), log_densities_(std::move(log_densities)), maps_(info, {}, {}), places_(std::move(ends)) {
    variables_ = info.parameters ? info.parameters->variables : info.variables;
    if (variables_.empty()) variables_ = variables_of(info.names);
    std::size_t offset = 0;
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const auto& shape = variables_[v].shape;
      for (std::size_t a = 0; a < shape.size(); ++a)
        axes_.push_back({v, offset, product(shape, 0, a), shape[a], product(shape, a + 1, shape.size())});
      offsets_.push_back(offset), offset += product(shape, 0, shape.size());
    }
    offsets_.push_back(offset);
    points_ = starts;
    points_.insert(points_.end(), places_.begin(), places_.begin() + looked_at);
    values_ = log_densities_(points_);
    if (std::ranges::all_of(values_, [](double v) { return static_cast<double>(static_cast<float>(v)) == v; }))
      same_ = same_in_float;
  }

  std::vector<Symmetries::Stage> operator()() {
    std::map<std::size_t, std::vector<Axis>> of_length;
    for (const Axis& axis : axes_)
      if (axis.length > 1 && axis.length <= most_labels) of_length[axis.length].push_back(axis);
    find_owners();
    for (const auto& [length, axes] : of_length) swap_labels(length, axes);
    change_signs(of_length);
    return std::move(stages_);
  }

 private:
  /// By what changes where a coordinate does. Where parameters are recorded with what is made of them, they come first.
  void find_owners() {
    const std::vector<double>& at = points_.front();
    owners_.assign(offsets_.back(), -1);
    if (!info_.constrain) std::iota(owners_.begin(), owners_.end(), 0);
    if (!info_.constrain || at.size() > most_to_probe) return;
    const std::vector<double> here = values_of(at);
    std::vector<char> shared(owners_.size(), 0);
    for (std::size_t i = 0; i < at.size(); ++i) {
      std::vector<double> moved = at;
      moved[i] += 0.1;
      const std::vector<double> there = values_of(moved);
      std::vector<std::size_t> changed;
      for (std::size_t k = 0; k < owners_.size(); ++k)
        if (here[k] != there[k]) changed.push_back(k);
      if (changed.empty()) continue;
      const bool alone = changed.size() == 1 || !info_.parameters;
      for (std::size_t k : changed)
        if (!alone || k != changed.front() || owners_[k] >= 0) shared[k] = 1;
      owners_[changed.front()] = static_cast<std::ptrdiff_t>(i);
    }
    for (std::size_t k = 0; k < owners_.size(); ++k)
      if (shared[k]) owners_[k] = -1;
  }
  std::vector<double> values_of(const std::vector<double>& x) const {
    std::vector<double> values(info_.names.size());
    if (info_.parameters)
      info_.parameters->of_point(x.data(), values.data());
    else
      info_.constrain(x.data(), {}, values.data());
    return values;
  }

  std::vector<double> image(const Swap& swap, std::vector<double> x) const {
    maps_.apply(swap, x.data());
    return x;
  }
  bool equal(double a, double b) const { return std::abs(a - b) < same_ * (1 + std::abs(a)); }
  /// Whether densities are the same at points and at their images, which are others.
  bool holds(const Swap& swap) {
    if (tried_ >= most_tried || (!swap.values.empty() && !info_.parameters)) return false;
    ++tried_;
    const std::vector<double> first = image(swap, points_[0]);
    if (first == points_[0] || !equal(values_[0], log_densities_({first})[0])) return false;
    std::vector<std::vector<double>> images;
    for (const auto& x : points_) images.push_back(image(swap, x));
    const std::vector<double> there = log_densities_(images);
    for (std::size_t k = 0; k < there.size(); ++k)
      if (!equal(values_[k], there[k])) return false;
    return true;
  }
  /// Whether places are apart from their images by one of these.
  bool separates(const std::vector<Swap>& swaps) const {
    return std::ranges::any_of(swaps, [&](const Swap& swap) { return has_wall(swap) || has_gap(swap); });
  }
  /// Whether the density is lower half-way from the highest place to its image, or so of half of those looked at.
  bool has_wall(const Swap& swap) const {
    std::vector<std::vector<double>> middles;
    for (std::size_t k = 0; k < looked_at; ++k) {
      middles.push_back(image(swap, places_[k]));
      for (std::size_t i = 0; i < middles[k].size(); ++i) middles[k][i] = (middles[k][i] + places_[k][i]) / 2;
    }
    const std::vector<double> there = log_densities_(middles), here(values_.end() - looked_at, values_.end());
    const auto wall = [&](std::size_t k) { return !(there[k] > here[k] - apart); };
    std::size_t walls = 0;
    for (std::size_t k = 0; k < looked_at; ++k) walls += wall(k);
    return wall(0) || 2 * walls >= looked_at;
  }
  /// Whether no place is near the middle: of many coordinates the density is highest there, and next to no mass is.
  bool has_gap(const Swap& swap) const {
    if (places_.size() < tell_a_gap) return false;
    const std::vector<double>& from = places_.front();
    const std::vector<double> to = image(swap, from);
    double sum = 0, squares = 0;
    for (const auto& x : places_) {
      double along = 0;
      for (std::size_t i = 0; i < x.size(); ++i) along += (from[i] - to[i]) * (x[i] - (from[i] + to[i]) / 2);
      sum += std::abs(along), squares += along * along;
    }
    const auto count = static_cast<double>(places_.size());
    const double mean = sum / count;
    return mean > gap * std::sqrt(std::max(0.0, squares / count - mean * mean));
  }

  /// Coordinates that make one value each change places themselves; where others do not, by the way back.
  Swap swap_of(const std::vector<Axis>& axes, std::size_t k, std::size_t l) const {
    Swap swap;
    for (const Axis& axis : axes)
      for (std::size_t o = 0; o < axis.outer; ++o)
        for (std::size_t i = 0; i < axis.inner; ++i) {
          const std::size_t a = axis.value(o, k, i), b = axis.value(o, l, i);
          if (owners_[a] >= 0 && owners_[b] >= 0)
            swap.coordinates.push_back({static_cast<std::size_t>(owners_[a]), static_cast<std::size_t>(owners_[b])});
          else
            swap.values.push_back({a, b});
        }
    return swap;
  }

  /// Components along the most of these axes, which are all of one length; then along the others.
  void swap_labels(std::size_t length, const std::vector<Axis>& axes) {
    for (std::size_t left_out = 0; left_out < axes.size(); ++left_out) {
      std::vector<char> out(axes.size(), 0);
      std::fill_n(out.begin(), left_out, 1);
      do {
        std::vector<Axis> chosen, others;
        for (std::size_t a = 0; a < axes.size(); ++a) (out[a] ? others : chosen).push_back(axes[a]);
        if (swap_along(length, chosen, left_out == 0)) return swap_labels(length, others);
      } while (std::ranges::prev_permutation(out).found && tried_ < most_tried);
    }
  }
  /// Of all axes of the length neighbours are tried until two may swap, of some the first two.
  bool swap_along(std::size_t length, const std::vector<Axis>& axes, bool whole) {
    Swap first;
    std::size_t from = 0;
    const auto may_swap = [&] {
      first = swap_of(axes, from, from + 1);
      return holds(first) || (length == 2 && with_probabilities(first));
    };
    while (!may_swap())
      if (!whole || ++from + 1 == length) return false;
    if (const auto parts = parts_of(axes, from))
      return swap_along(length, parts->first, true) | swap_along(length, parts->second, true);
    std::vector<std::size_t> labels = {from, from + 1};
    for (std::size_t k = from + 2; k < length; ++k)
      if (holds(swap_of(axes, from, k))) labels.push_back(k);
    std::vector<Symmetries::Stage> shuffle;
    std::vector<Swap> all;
    for (std::size_t k = 1; k < labels.size(); ++k) {
      shuffle.emplace_back();
      for (std::size_t l = 0; l < k; ++l) shuffle.back().push_back(swap_of(axes, labels[l], labels[k]));
      if (k == 1) shuffle[0] = {first};
      all.insert(all.end(), shuffle.back().begin(), shuffle.back().end());
    }
    if (separates(all)) stages_.insert(stages_.end(), shuffle.begin(), shuffle.end());
    return true;
  }
  /// Some of these axes along which the same two may swap by themselves, and the others; or nothing.
  std::optional<std::pair<std::vector<Axis>, std::vector<Axis>>> parts_of(const std::vector<Axis>& axes,
                                                                          std::size_t k) {
    for (std::size_t size = 1; 2 * size <= axes.size(); ++size) {
      std::vector<char> in(axes.size(), 0);
      std::fill_n(in.begin(), size, 1);
      do {
        std::pair<std::vector<Axis>, std::vector<Axis>> parts;
        for (std::size_t a = 0; a < axes.size(); ++a) (in[a] ? parts.first : parts.second).push_back(axes[a]);
        if (holds(swap_of(parts.first, k, k + 1))) return parts;
      } while (std::ranges::prev_permutation(in).found);
    }
    return {};
  }
  /// The same where numbers of their own, as the share of the first of two components, change sign as coordinates.
  bool with_probabilities(Swap& swap) {
    std::vector<std::size_t> numbers;
    for (std::size_t v = 0; v < variables_.size() && numbers.size() < most_probabilities; ++v)
      if (const auto owner = owners_[offsets_[v]]; variables_[v].shape.empty() && owner >= 0)
        numbers.push_back(static_cast<std::size_t>(owner));
    for (std::size_t chosen = 1; chosen < (std::size_t(1) << numbers.size()); ++chosen) {
      Swap tried = swap;
      for (std::size_t k = 0; k < numbers.size(); ++k)
        if (chosen >> k & 1) tried.signs.push_back(numbers[k]);
      if (!holds(tried)) continue;
      swap = tried;
      return true;
    }
    return false;
  }

  /// Those that make these values; empty where one of these has none of its own.
  std::vector<std::size_t> coordinates_of(const std::vector<std::size_t>& values) const {
    std::vector<std::size_t> out;
    for (const std::size_t v : values) {
      if (owners_[v] < 0) return {};
      out.push_back(static_cast<std::size_t>(owners_[v]));
    }
    return out;
  }
  void change_signs(const std::map<std::size_t, std::vector<Axis>>& of_length) {
    std::vector<std::vector<std::size_t>> whole;
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      std::vector<std::size_t> values(offsets_[v + 1] - offsets_[v]);
      std::iota(values.begin(), values.end(), offsets_[v]);
      if (auto found = coordinates_of(values); !found.empty()) whole.push_back(std::move(found));
    }
    for (const auto& [length, axes] : of_length)
      for (std::size_t k = 0; k < length; ++k) {
        std::vector<std::vector<std::size_t>> of_label;
        for (const Axis& axis : axes) {
          std::vector<std::size_t> values;
          for (std::size_t o = 0; o < axis.outer; ++o)
            for (std::size_t i = 0; i < axis.inner; ++i) values.push_back(axis.value(o, k, i));
          if (auto found = coordinates_of(values); !found.empty()) of_label.push_back(std::move(found));
        }
        if (flip(of_label) == 0 && k == 0) break;  // where the first component's signs are told, so are the others'
      }
    flip(whole);
  }
  /// Those of a change of sign that is used, which all are among `signs`: the others change by themselves.
  static void drop(const Swap& used, std::vector<std::size_t>& signs) {
    if (!used.values.empty() || !used.coordinates.empty()) return;
    const auto is_used = [&](std::size_t i) { return std::ranges::find(used.signs, i) != used.signs.end(); };
    if (std::ranges::count_if(signs, is_used) == std::ssize(used.signs)) std::erase_if(signs, is_used);
  }
  /// Sets of up to three of `parts` that change sign together; how many were found.
  std::size_t flip(const std::vector<std::vector<std::size_t>>& parts) {
    std::vector<std::vector<std::size_t>> found;
    for (std::size_t size = 1; size <= std::min(most_flipped, parts.size()); ++size) {
      std::vector<char> in(parts.size(), 0);
      std::fill_n(in.begin(), size, 1);
      do {
        std::vector<std::size_t> chosen;
        Swap swap;
        for (std::size_t p = 0; p < parts.size(); ++p)
          if (in[p]) chosen.push_back(p), swap.signs.insert(swap.signs.end(), parts[p].begin(), parts[p].end());
        const bool has_one = std::ranges::any_of(found, [&](const auto& f) {  // the rest of it is another
          return std::ranges::includes(chosen, f);
        });
        if (has_one || !holds(swap)) continue;
        found.push_back(chosen);
        for (const Symmetries::Stage& stage : stages_) drop(stage.front(), swap.signs);
        if (!swap.signs.empty() && separates({swap})) stages_.push_back({swap});
      } while (std::ranges::prev_permutation(in).found && tried_ < most_tried);
    }
    return found.size();
  }

  const TargetInfo& info_;
  const LogDensities log_densities_;
  const Symmetries maps_;
  const std::vector<std::vector<double>> places_;  ///< from the highest down
  std::vector<Variable> variables_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> offsets_;  ///< of variables' first values
  Owners owners_;
  std::vector<std::vector<double>> points_;  ///< starts, then the highest places
  std::vector<double> values_;               ///< log densities there
  double same_ = same;
  std::size_t tried_ = 0;
  std::vector<Symmetries::Stage> stages_;
};

}  // namespace

template <class Real>
Symmetries find_symmetries(const TargetInfo& info, const GradientsAt<Real>& gradients_at,
                           const std::vector<Real>& starts, const std::vector<Real>& ends, std::int64_t& gradients) {
  const auto dim = static_cast<std::size_t>(info.dim), count = ends.size() / dim;
  if (count < looked_at) return {};
  const auto point = [&](const std::vector<Real>& of, std::size_t k) {
    return std::vector<double>(of.begin() + static_cast<std::ptrdiff_t>(k * dim),
                               of.begin() + static_cast<std::ptrdiff_t>((k + 1) * dim));
  };
  std::vector<double> lp;
  gradients_at(ends, &lp);
  gradients += std::ssize(lp);
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < count; ++k)
    if (std::isfinite(lp[k])) order.push_back(k);
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return lp[a] > lp[b]; });
  if (order.size() < looked_at) return {};
  std::vector<std::vector<double>> places;  // the lowest may not have arrived
  for (std::size_t k = 0; k < std::max(looked_at, 3 * order.size() / 4); ++k) places.push_back(point(ends, order[k]));
  const auto log_densities = [&](const std::vector<std::vector<double>>& points) {
    std::vector<Real> x;
    for (const auto& p : points) x.insert(x.end(), p.begin(), p.end());
    gradients += std::ssize(points);
    std::vector<double> found;
    gradients_at(x, &found);
    return found;
  };
  std::vector<Symmetries::Stage> stages;
  try {
    stages = Finder(info, log_densities, {point(starts, order[0]), point(starts, order[1])}, places)();
  } catch (const std::exception&) {  // of a model's own function, at a point that no chain asks for
    return {};
  }
  if (stages.empty()) return {};
  return {info, std::move(stages), places.front()};
}

template Symmetries find_symmetries(const TargetInfo&, const GradientsAt<float>&, const std::vector<float>&,
                                    const std::vector<float>&, std::int64_t&);
template Symmetries find_symmetries(const TargetInfo&, const GradientsAt<double>&, const std::vector<double>&,
                                    const std::vector<double>&, std::int64_t&);

}  // namespace kilochain
