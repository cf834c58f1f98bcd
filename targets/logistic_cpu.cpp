// The logistic regression on the CPU: one data set, three evaluators, and the choice between them.
#include <fmt/format.h>

#include <algorithm>

#include "targets/logistic_blocked.hpp"
#include "targets/logistic_sparse.hpp"

namespace kilochain {
namespace {

/// One core's gradient on the processor that docs/decisions/0002-logistic-evaluators.md was measured on.
struct Rates {
  double products;   ///< operations of the two products, per second
  double memory;     ///< bytes of X from memory, per second
  double residuals;  ///< observations, per second
};
template <class Real>
constexpr Rates blocked_rates = {sizeof(Real) == 4 ? 210e9 : 105e9, 25e9, sizeof(Real) == 4 ? 4.4e9 : 1.4e9};
template <class Real>
constexpr Rates sparse_rates = {sizeof(Real) == 4 ? 170e9 : 85e9, 25e9, sizeof(Real) == 4 ? 4.4e9 : 1.4e9};

/// Microseconds for one chain's gradient among many: products and residuals, or the stream of X if that is slower.
/// `kept`: the share of X that is stored and multiplied.
double microseconds(const Rates& r, const TargetInfo& info, double rows, double kept = 1) {
  const double chains = 64;  // that share one pass over X
  return 1e6 * std::max(kept * info.flops / r.products + rows / r.residuals, kept * info.bytes / chains / r.memory);
}

template <class Real>
class LogisticCpu final : public Target<Real> {
 public:
  using Model = LogisticRegression<Real>;
  using Evaluator = LogisticEvaluator;
  LogisticCpu(const Context& context, const LogisticSettings& settings)
      : arena_(context), evaluator_(settings.evaluator) {
    const Design& design = read_logistic_design(settings);
    this->info_ = describe_logistic(design, settings, sizeof(Real));
    Panels panels;
    if (evaluator_ == Evaluator::sparse || (evaluator_ == Evaluator::automatic && density(design) < 0.8))
      panels = find_panels(design, panel_rows<Real>());
    choose(static_cast<double>(design.rows), panels.begin.empty() ? 1.0 : panels.kept(design.columns));
    if (evaluator_ == Evaluator::sparse)
      many_ = sparse(context, design, panels, settings.prior_sd);
    else if (evaluator_ == Evaluator::blocked)
      many_ = std::make_unique<BlockedLogistic<Real>>(design, settings.prior_sd, arena_);
    else
      data_ = Model::place(design, settings.prior_sd, arena_, true, false);
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (many_) return many_->evaluate(exchange, first, last);
    thread_local std::vector<Real> scratch;
    if (scratch.size() < Model::scratch(data_)) scratch.resize(Model::scratch(data_));
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing)
        Model::evaluate(HostTeam{}, data_, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                        scratch.data());
  }

  /// Every thread gets the same share, in equal tiles. Data that stay in L2 need few chains to pay for their reading,
  /// and then the chains' own state stays there too.
  Index tile(Index num_chains, int threads) const override {
    if (evaluator_ == Evaluator::team) return 1;
    const Index share = std::max<Index>(1, (num_chains + threads - 1) / threads);
    const Index most = this->info_.bytes < 256 * 1024 ? 20 : 64;
    const Index tiles = (share + most - 1) / most;
    return (share + tiles - 1) / tiles;
  }

  std::string evaluation() const override { return evaluation_; }

 private:
  std::unique_ptr<ManyChains<Real>> sparse(const Context& context, const Design& design, const Panels& panels,
                                           double prior_sd) {
    const double unit = byte_unit(design);
    const double kept = panels.kept(design.columns) * this->info_.bytes / (unit > 0 ? sizeof(Real) : 1);
    evaluation_ += fmt::format("; {:.1f} MB are kept{}", 1e-6 * kept, unit > 0 ? ", as bytes" : "");
    if (unit > 0) return std::make_unique<SparseLogistic<Real, std::uint8_t>>(context, design, panels, unit, prior_sd);
    return std::make_unique<SparseLogistic<Real, Real>>(context, design, panels, 1.0, prior_sd);
  }
  void choose(double rows, double kept) {
    const double blocked = microseconds(blocked_rates<Real>, this->info_, rows),
                 sparse = microseconds(sparse_rates<Real>, this->info_, rows, kept);
    const bool asked = evaluator_ != Evaluator::automatic;
    if (!asked) evaluator_ = sparse < blocked ? Evaluator::sparse : Evaluator::blocked;
    evaluation_ = fmt::format(
        "{} ({}): {:.0f} observations x {} features, {:.1f} MB, read once for up to 64 chains; expected per gradient "
        "of one chain: blocked {:.3g} us",
        logistic_evaluator_names.value[static_cast<int>(evaluator_)], asked ? "as asked" : "auto", rows,
        this->info_.dim, 1e-6 * this->info_.bytes, blocked);
    if (kept < 1) evaluation_ += fmt::format(", sparse {:.3g} us ({:.0f} % of the data kept)", sparse, 100 * kept);
  }

  Arena<Real> arena_;
  Evaluator evaluator_;
  std::string evaluation_;
  typename Model::Data data_{};
  std::unique_ptr<ManyChains<Real>> many_;  // null: one chain at a time
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> LogisticRegression<Real>::make_cpu(const Context& context, const Settings& settings) {
  check_matmul<Real>("logistic_regression", settings.matmul, context);
  if (is_grouped(settings)) return Grouped::make_cpu(context, settings);
  return std::make_unique<LogisticCpu<Real>>(context, settings);
}
template std::unique_ptr<Target<float>> LogisticRegression<float>::make_cpu(const Context&, const LogisticSettings&);
template std::unique_ptr<Target<double>> LogisticRegression<double>::make_cpu(const Context&, const LogisticSettings&);

}  // namespace kilochain
