#include "targets/sparse_products.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "targets/logistic_batches.hpp"
#include "targets/logistic_kernels.hpp"

namespace kilochain {
namespace {

using namespace logistic;

constexpr Index strip_features = 64;            // whose sums of `micro` chains, 20 KB, stay in L1
constexpr Index piece = 96;                     // panels for which logits stay in L1
constexpr std::size_t slab_bytes = 512 * 1024;  // of X: the rest of L2 is the chains'

template <class Real, class Stored>
using LogitKernel = void (*)(const Stored*, const std::int32_t*, Index, Index, const Real* const*, Real*, std::size_t,
                             std::ptrdiff_t);
template <class Real, class Stored, int... K>
constexpr std::array<LogitKernel<Real, Stored>, micro> logit_table(std::integer_sequence<int, K...>) {
  return {logits<Real, K + 1, true, Stored>...};
}
template <class Real, class Stored>
using PanelKernel = void (*)(const Stored*, const std::int32_t*, Index, Index, const Real*, std::size_t, Real*,
                             std::ptrdiff_t);
template <class Real, class Stored, int... K>
constexpr std::array<PanelKernel<Real, Stored>, micro> panel_table(std::integer_sequence<int, K...>) {
  return {products_of_panels<Real, K + 1, Stored>...};
}
template <class Real, class Stored>
constexpr auto logit_kernels = logit_table<Real, Stored>(std::make_integer_sequence<int, micro>());
template <class Real, class Stored>
constexpr auto panel_kernels = panel_table<Real, Stored>(std::make_integer_sequence<int, micro>());

}  // namespace

template <class Real>
std::size_t panel_rows() {
  return block_rows<Real>;
}

template <class Real, class Stored>
SparseProducts<Real, Stored>::SparseProducts(const Context& context, const Design& design, const Panels& panels,
                                             double unit)
    : x_(context, panels.features.size() * panel_rows<Real>() + Register<Real>::size),
      unit_(unit),
      rows_(design.rows),
      features_(panels.features) {
  const std::size_t n = design.columns, blocks = panels.begin.size() - 1, rows = panel_rows<Real>();
  for (std::size_t i = 0; i < design.rows; ++i) {
    const std::size_t from = panels.order[i];
    for (std::size_t p = panels.begin[i / rows]; p < panels.begin[i / rows + 1]; ++p) {
      const double x = design.x[from * n + static_cast<std::size_t>(features_[p])];
      x_.data()[p * rows + i % rows] = static_cast<Stored>(std::is_same_v<Real, Stored> ? x : std::round(x / unit));
    }
  }
  n_ = static_cast<Index>(n);

  strips_ = (n_ + strip_features - 1) / strip_features;
  for (std::size_t b = 0; b < blocks; ++b)
    for (Index s = 0; s < strips_; ++s) {
      const auto first = features_.begin() + static_cast<std::ptrdiff_t>(panels.begin[b]),
                 last = features_.begin() + static_cast<std::ptrdiff_t>(panels.begin[b + 1]);
      begin_.push_back(static_cast<std::size_t>(std::lower_bound(first, last, s * strip_features) - features_.begin()));
    }
  begin_.push_back(features_.size());
  most_blocks_ = 0;
  const Index all = static_cast<Index>(blocks);
  for (Index b = 0; b < all;) {
    slabs_.push_back(b);
    const std::size_t first = panels.begin[static_cast<std::size_t>(b)];
    Index end = b + 1;
    while (end < all && end - b < max_packs / block_packs &&
           (panels.begin[static_cast<std::size_t>(end) + 1] - first) * rows * sizeof(Stored) <= slab_bytes)
      ++end;
    most_blocks_ = std::max(most_blocks_, end - b);
    b = end;
  }
  slabs_.push_back(all);
}

template <class Real, class Stored>
typename SparseProducts<Real, Stored>::Sums SparseProducts<Real, Stored>::run(
    const std::vector<const Real*>& w, const std::vector<const Real*>& v, const Columns& columns, bool products,
    const std::function<void(const Part&)>& middle) const {
  using P = Register<Real>;
  constexpr Index height = block_rows<Real>;
  constexpr bool scaled = !std::is_same_v<Real, Stored>;
  const Index count = columns.sets.back(), num_groups = std::ssize(columns.groups) - 1;
  const auto first_of = [&](Index set) { return columns.sets[static_cast<std::size_t>(set)]; };
  const auto set_of = [&](Index group) { return columns.groups[static_cast<std::size_t>(group)]; };
  Index widest = 0;  // columns of a group
  for (Index k = 0; k < num_groups; ++k) widest = std::max(widest, first_of(set_of(k + 1)) - first_of(set_of(k)));
  const std::size_t ld =
      static_cast<std::size_t>(height) * most_blocks_ + P::size;  // no power of 2: columns would share cache sets
  const std::size_t row = static_cast<std::size_t>(strips_) * strip_features,
                    strip_sums = strip_features * micro * P::size;
  Real* const t = thread_scratch<Real>(ld * widest * 2 + strip_sums + row * count * (scaled ? 3 : 1));
  Real *const slopes = t + ld * widest, *const sums = slopes + ld * widest, *const g = sums + strip_sums;
  std::fill_n(sums, strip_sums + row * count, Real(0));
  // What is stored is X / unit: so the weights are multiplied by it, and the sums over observations at the end.
  const auto in_units = [&](std::vector<const Real*> from, Real* to) {
    for (const Real*& vector : from) {
      if constexpr (scaled) {
        for (Index j = 0; j < n_; ++j) to[j] = Real(unit_) * vector[j];
        vector = to, to += row;
      }
    }
    return from;
  };
  const std::vector<const Real*> points = in_units(w, g + row * count), directions = in_units(v, g + 2 * row * count);
  const auto begin = [&](Index block, Index strip) {
    return begin_[static_cast<std::size_t>(block) * static_cast<std::size_t>(strips_) +
                  static_cast<std::size_t>(strip)];
  };
  const auto panel = [&](std::size_t p) { return x_.data() + p * height; };

  const auto fill = [&](const std::vector<const Real*>& vectors, Index group, Index from, Index end, Real* to,
                        std::ptrdiff_t ahead) {
    for (Index b = from; b < end; ++b) {
      const std::size_t p = begin(b, 0);
      const Index panels = static_cast<Index>(begin(b + 1, 0) - p);
      for (Index k = 0; k == 0 || k < panels; k += piece)
        for (Index s = set_of(group); s < set_of(group + 1); ++s)
          logit_kernels<Real, Stored>[first_of(s + 1) - first_of(s) - 1](
              panel(p), features_.data() + p, k, std::min(panels, k + piece), vectors.data() + first_of(s),
              to + ld * (first_of(s) - first_of(set_of(group))) + height * (b - from), ld,
              first_of(s + 1) == count ? ahead : 0);
    }
  };
  for (std::size_t slab = 0; slab + 1 < slabs_.size(); ++slab) {
    const Index from = slabs_[slab], end = slabs_[slab + 1], length = height * (end - from);
    const std::size_t first_row = static_cast<std::size_t>(height) * from;
    const bool last = slab + 2 == slabs_.size();
    // Half of the next slab is fetched with the logits of the last columns, half with their products.
    const std::ptrdiff_t ahead = last ? 0 : panel(begin(end, 0)) - panel(begin(from, 0));
    for (Index group = 0; group < num_groups; ++group) {
      const Index c0 = first_of(set_of(group)), here = first_of(set_of(group + 1)) - c0;
      fill(points, group, from, end, t, ahead);
      if (!v.empty()) fill(directions, group, from, end, slopes, 0);
      const Index padding = last ? static_cast<Index>(first_row + length - rows_) : 0;
      middle({c0, here, first_row, length, padding, t, v.empty() ? nullptr : slopes, ld});
      if (!products) continue;
      for (Index strip = 0; strip < strips_; ++strip) {
        const Index feature = strip * strip_features, features = std::min(strip_features, n_ - feature);
        for (Index s = set_of(group); s < set_of(group + 1); ++s) {
          const Index c = first_of(s), width = first_of(s + 1) - c;
          for (Index b = from; b < end; ++b) {
            const std::size_t p = begin(b, strip);
            const Index panels = static_cast<Index>(begin(b, strip + 1) - p);
            panel_kernels<Real, Stored>[width - 1](panel(p), features_.data() + p, panels, feature,
                                                   t + ld * (c - c0) + height * (b - from), ld, sums,
                                                   c + width == count ? ahead : 0);
          }
          add_panel_sums(features, width, sums, g + row * c + feature, row);
        }
      }
    }
  }
  return {g, row, scaled ? Real(unit_) : Real(1)};
}

template std::size_t panel_rows<float>();
template std::size_t panel_rows<double>();
template class SparseProducts<float, float>;
template class SparseProducts<double, double>;
template class SparseProducts<float, std::uint8_t>;
template class SparseProducts<double, std::uint8_t>;

}  // namespace kilochain
