// Generalised linear models of many chains on the CPU: the products of targets/sparse_products.hpp, which read a block
// of the data once for all chains of a tile. Promise: a chain's result has the same bits whichever and however many
// chains are evaluated with it.
#include <fmt/format.h>

#include "targets/glm.hpp"
#include "targets/logistic_batches.hpp"
#include "targets/sparse_products.hpp"

namespace kilochain {
namespace {

template <class Real, class Family>
class GlmCpu final : public Target<Real> {
  using Products = SparseProducts<Real, Real>;

 public:
  GlmCpu(const Context& context, const RegressionSettings& settings)
      : GlmCpu(context, settings, read_glm_design(family_of<Family>(), settings)) {}

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    logistic::in_batches(exchange, first, last,
                         [&](Needs needs, const Index* chains, Index count) { run(exchange, needs, chains, count); });
  }
  /// Every thread gets the same share, in equal tiles.
  Index tile(Index num_chains, int threads) const override {
    const Index share = (num_chains + threads - 1) / threads, tiles = (share + 63) / 64;
    return (share + tiles - 1) / tiles;
  }
  std::string evaluation() const override { return evaluation_; }

 private:
  GlmCpu(const Context& context, const RegressionSettings& settings, const Design& design)
      : GlmCpu(context, settings, design, find_panels(design, panel_rows<Real>())) {}
  GlmCpu(const Context& context, const RegressionSettings& settings, const Design& design, const Panels& panels)
      : arena_(context),
        shape_(glm_shape(family_of<Family>(), settings, design, arena_)),
        products_(context, design, panels, 1.0),
        y_(glm_response(glm_units(family_of<Family>(), settings, design), design, panels.order, arena_)),
        group_(glm_groups(design, panels.order, arena_)),
        evaluation_(fmt::format("all chains in blocks of the data: {} observations x {} features, {} groups",
                                design.rows, design.columns, design.groups.size())) {
    this->info_ = describe_glm(family_of<Family>(), settings, design, sizeof(Real));
  }

  void run(const Exchange<Real>& exchange, Needs needs, const Index* chains, Index count) const {
    const bool gradient = needs != Needs::value;
    const Index first = shape_.n + (Family::has_parameter ? 1 : 0), groups = shape_.groups;
    std::vector<const Real*> point;
    std::vector<double> s, lp(static_cast<std::size_t>(count)), slope(lp),
        alpha(static_cast<std::size_t>(std::max<Index>(groups, 1) * count)), along(alpha);
    for (Index c = 0; c < count; ++c) {
      const Row<Real> x = exchange.query(chains[c]).point;
      point.push_back(x);
      s.push_back(Family::has_parameter ? double(x[shape_.n]) : 0);
      const double sigma = groups > 0 ? std::exp(double(x[first + groups])) : 0;
      for (Index g = 0; g < groups; ++g) alpha[static_cast<std::size_t>(groups * c + g)] = sigma * double(x[first + g]);
    }
    typename Products::Columns columns;
    for (Index c = 0; c < count; c += logistic::group) {
      columns.groups.push_back(std::ssize(columns.sets));
      const logistic::Sets sets{std::min(logistic::group, count - c)};
      for (Index set = 0; set < sets.sets; ++set) columns.sets.push_back(c + sets.first(set));
    }
    columns.groups.push_back(std::ssize(columns.sets));
    columns.sets.push_back(count);

    const auto sums = products_.run(point, {}, columns, gradient, [&](const auto& part) {
      const Index rows = part.length - part.padding;
      const double *const y = y_ + part.from, *const group = group_ + part.from;
      for (Index c = 0; c < part.count; ++c) {
        const auto at = static_cast<std::size_t>(part.first + c);
        Real* const t = part.t + part.ld * static_cast<std::size_t>(c);
        const auto rows_of = [&](auto&& added) {
          lp[at] += glm_rows<Family>(HostTeam{}, shape_, rows, y, t, s[at], gradient, slope[at], added);
        };
        if (groups == 0) {
          rows_of([](Index) { return 0.0; });
        } else {
          rows_of(
              [&, of = alpha.data() + static_cast<std::size_t>(groups) * at](Index i) { return of[Index(group[i])]; });
          double* const to = along.data() + static_cast<std::size_t>(groups) * at;
          for (Index i = 0; i < rows && gradient; ++i) to[Index(group[i])] += double(t[i]);
        }
        std::fill_n(t + rows, part.padding, Real(0));
      }
    });
    for (Index c = 0; c < count; ++c) {
      const auto at = static_cast<std::size_t>(c);
      const Query<Real> query = exchange.query(chains[c]);
      const Reply<Real> reply = exchange.reply(chains[c]);
      glm_answer<Family>(HostTeam{}, shape_, needs, query, reply, lp[at], slope[at],
                         [&](Index g) { return along[static_cast<std::size_t>(groups * c + g)]; });
      for (Index j = 0; j < shape_.n && gradient; ++j)
        reply.gradient[j] = sums(c, j) - Real(shape_.inverse_variance) * query.point[j];
    }
  }

  Arena<double> arena_;
  GlmShape shape_;
  Products products_;
  const double *y_, *group_;  // in the order of the panels
  std::string evaluation_;
};

}  // namespace

template <class Real, class Family>
std::unique_ptr<Target<Real>> Glm<Real, Family>::make_cpu(const Context& context, const RegressionSettings& settings) {
  return std::make_unique<GlmCpu<Real, Family>>(context, settings);
}
template struct Glm<float, NormalFamily>;
template struct Glm<double, NormalFamily>;
template struct Glm<float, PoissonFamily>;
template struct Glm<double, PoissonFamily>;
template struct Glm<float, NegativeBinomialFamily>;
template struct Glm<double, NegativeBinomialFamily>;
template struct Glm<float, BernoulliFamily>;
template struct Glm<double, BernoulliFamily>;

}  // namespace kilochain
