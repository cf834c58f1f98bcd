// Softmax regression on the CPU: products over chains, which are quicker for one chain and 30 observations
// already, or one chain at a time where that is asked for.
#include <fmt/format.h>

#include "targets/softmax_products.hpp"

namespace kilochain {
namespace {

template <class Real>
class SoftmaxCpu final : public Target<Real> {
 public:
  using Model = SoftmaxRegression<Real>;
  SoftmaxCpu(const Context& context, const SoftmaxSettings& settings) : arena_(context) {
    const Design& design = read_softmax_design(settings);
    this->info_ = describe_softmax(design, settings, sizeof(Real));
    const bool team = settings.evaluator == SoftmaxEvaluator::team;
    evaluation_ =
        fmt::format("{}: {} observations x {} features x {} classes, {:.1f} MB", team ? "team, as asked" : "auto",
                    design.rows, design.columns, design.classes.size(), 1e-6 * this->info_.bytes);
    if (team) {
      data_ = Model::place(design, settings.prior_sd, arena_, true, false);
      return;
    }
    const Panels panels = find_panels(design, panel_rows<Real>());
    const double unit = byte_unit(design);
    if (unit > 0)
      many_ = std::make_unique<SoftmaxProducts<Real, std::uint8_t>>(context, design, panels, unit, settings.prior_sd);
    else
      many_ = std::make_unique<SoftmaxProducts<Real, Real>>(context, design, panels, 1.0, settings.prior_sd);
    evaluation_ +=
        fmt::format(", of which {:.0f} % are kept{}", 100 * panels.kept(design.columns), unit > 0 ? ", as bytes" : "");
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (many_) return many_->evaluate(exchange, first, last);
    Real* scratch = logistic::thread_scratch<Real>(Model::scratch(data_));
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing)
        Model::evaluate(HostTeam{}, data_, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                        scratch);
  }
  /// Every thread gets the same share, in equal tiles.
  Index tile(Index num_chains, int threads) const override {
    const Index share = (num_chains + threads - 1) / threads, tiles = (share + 63) / 64;
    return many_ ? (share + tiles - 1) / tiles : 1;
  }
  std::string evaluation() const override { return evaluation_; }

 private:
  Arena<Real> arena_;
  std::string evaluation_;
  typename Model::Data data_{};
  std::unique_ptr<ManyChains<Real>> many_;  // null: one chain at a time
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> SoftmaxRegression<Real>::make_cpu(const Context& context, const Settings& settings) {
  check_matmul<Real>("softmax_regression", settings.matmul, context);
  return std::make_unique<SoftmaxCpu<Real>>(context, settings);
}
template std::unique_ptr<Target<float>> SoftmaxRegression<float>::make_cpu(const Context&, const SoftmaxSettings&);
template std::unique_ptr<Target<double>> SoftmaxRegression<double>::make_cpu(const Context&, const SoftmaxSettings&);

}  // namespace kilochain
