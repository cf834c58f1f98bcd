#include "targets/logistic_sparse.hpp"

#include <array>
#include <cmath>
#include <utility>

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
SparseLogistic<Real, Stored>::SparseLogistic(const Context& context, const Design& design, const Panels& panels,
                                             double unit, double prior_sd)
    : x_(context, panels.features.size() * panel_rows<Real>() + Pack<Real>::size),
      sign_(context, (panels.begin.size() - 1) * panel_rows<Real>()),
      unit_(unit),
      features_(panels.features) {
  const std::size_t n = design.columns, blocks = panels.begin.size() - 1, rows = panel_rows<Real>();
  for (std::size_t i = 0; i < design.rows; ++i) {
    const std::size_t from = panels.order[i];
    sign_.data()[i] = Real(2 * design.y[from] - 1);
    for (std::size_t p = panels.begin[i / rows]; p < panels.begin[i / rows + 1]; ++p) {
      const double x = design.x[from * n + static_cast<std::size_t>(features_[p])];
      x_.data()[p * rows + i % rows] = static_cast<Stored>(std::is_same_v<Real, Stored> ? x : std::round(x / unit));
    }
  }
  n_ = static_cast<Index>(n);
  prior_ = Prior(prior_sd, n_);
  padding_ = std::ldexp(1.0, -static_cast<int>(blocks * rows - design.rows));

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
void SparseLogistic<Real, Stored>::evaluate(const Exchange<Real>& exchange, Index first, Index last) const {
  in_batches(exchange, first, last,
             [&](Needs needs, const Index* chains, Index count) { run(exchange, needs, chains, count); });
}

template <class Real, class Stored>
void SparseLogistic<Real, Stored>::run(const Exchange<Real>& exchange, Needs needs, const Index* chains,
                                       Index count) const {
  using P = Pack<Real>;
  constexpr Index height = block_rows<Real>;
  const bool hessian = needs == Needs::hessian_vector;
  const std::size_t ld =
      static_cast<std::size_t>(height) * most_blocks_ + P::size;  // no power of 2: chains would share cache sets
  const std::size_t row = static_cast<std::size_t>(strips_) * strip_features;
  constexpr bool scaled = !std::is_same_v<Real, Stored>;
  Real* const t =
      thread_scratch<Real>(ld * group * 2 + strip_features * micro * P::size + row * batch * (scaled ? 3 : 1));
  Real *const sums = t + ld * group * 2, *const g = sums + strip_features * micro * P::size;
  std::fill_n(sums, strip_features * micro * P::size + row * count, Real(0));
  const Real *point[batch], *direction[batch];
  double linear[batch] = {}, logarithm[batch] = {};
  const Sets all{count};
  // What is stored is X / unit: so the weights are multiplied by it, and the sums over observations at the end.
  const Real unit = Real(unit_);
  const auto in_units = [&](const Real* w, Real* to) {
    for (Index j = 0; j < n_; ++j) to[j] = unit * w[j];
    return to;
  };
  Real* const room = g + row * batch;
  for (Index c = 0; c < count; ++c) {
    const Query<Real> query = exchange.query(chains[c]);
    point[c] = scaled ? in_units(query.point, room + row * c) : query.point;
    direction[c] = scaled && hessian ? in_units(query.direction, room + row * (batch + c)) : query.direction;
  }
  const auto begin = [&](Index block, Index strip) {
    return begin_[static_cast<std::size_t>(block) * static_cast<std::size_t>(strips_) +
                  static_cast<std::size_t>(strip)];
  };
  const auto panel = [&](std::size_t p) { return x_.data() + p * height; };

  const auto fill = [&](const Real* const* vectors, Index first_set, Index end_set, Index from, Index end, Real* to,
                        std::ptrdiff_t ahead) {
    for (Index b = from; b < end; ++b) {
      const std::size_t p = begin(b, 0);
      const Index panels = static_cast<Index>(begin(b + 1, 0) - p);
      for (Index k = 0; k == 0 || k < panels; k += piece)
        for (Index s = first_set; s < end_set; ++s)
          logit_kernels<Real, Stored>[all.width(s) - 1](
              panel(p), features_.data() + p, k, std::min(panels, k + piece), vectors + all.first(s),
              to + ld * (all.first(s) - all.first(first_set)) + height * (b - from), ld, s + 1 == all.sets ? ahead : 0);
    }
  };
  for (std::size_t slab = 0; slab + 1 < slabs_.size(); ++slab) {
    const Index from = slabs_[slab], end = slabs_[slab + 1], length = height * (end - from);
    const bool last = slab + 2 == slabs_.size();
    // Half of the next slab is fetched with the logits of the last chains, half with their products.
    const std::ptrdiff_t ahead = last ? 0 : panel(begin(end, 0)) - panel(begin(from, 0));
    for (Index first_set = 0; first_set < all.sets; first_set += 2) {
      const Index end_set = std::min(first_set + 2, all.sets), c0 = all.first(first_set),
                  here = all.first(end_set) - c0;
      fill(point, first_set, end_set, from, end, t, ahead);
      if (hessian) {
        fill(direction, first_set, end_set, from, end, t + ld * group, 0);
        for (Index c = 0; c < here; ++c) curvatures(t + ld * c, t + ld * (group + c), length);
      } else {
        double product[group];
        for (Index c = 0; c < here; ++c) {
          const LogLikelihood l = residuals(t + ld * c, sign_.data() + static_cast<std::size_t>(height) * from, length);
          linear[c0 + c] += l.linear, product[c] = l.product * (last ? padding_ : 1.0);
        }
        add_logs(product, logarithm + c0, here);
      }
      if (needs == Needs::value) continue;
      for (Index strip = 0; strip < strips_; ++strip) {
        const Index feature = strip * strip_features, features = std::min(strip_features, n_ - feature);
        for (Index s = first_set; s < end_set; ++s) {
          const Index width = all.width(s), c = all.first(s);
          for (Index b = from; b < end; ++b) {
            const std::size_t p = begin(b, strip);
            const Index panels = static_cast<Index>(begin(b, strip + 1) - p);
            panel_kernels<Real, Stored>[width - 1](panel(p), features_.data() + p, panels, feature,
                                                   t + ld * (c - c0) + height * (b - from), ld, sums,
                                                   s + 1 == all.sets ? ahead : 0);
          }
          add_panel_sums(features, width, sums, g + row * c + feature, row);
        }
      }
    }
  }
  for (Index c = 0; c < count; ++c) {
    const Real* const of_chain = g + row * c;
    prior_.answer(needs, n_, exchange.query(chains[c]), exchange.reply(chains[c]), linear[c] - logarithm[c],
                  [&](Index j) { return scaled ? unit * of_chain[j] : of_chain[j]; });
  }
}

template std::size_t panel_rows<float>();
template std::size_t panel_rows<double>();
template class SparseLogistic<float, float>;
template class SparseLogistic<double, double>;
template class SparseLogistic<float, std::uint8_t>;
template class SparseLogistic<double, std::uint8_t>;

}  // namespace kilochain
