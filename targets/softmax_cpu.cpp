// Softmax regression on the CPU: one data set, three evaluators, and the choice between them.
#include <fmt/format.h>

#include <algorithm>

#include "targets/softmax_gemm.hpp"
#include "targets/softmax_sparse.hpp"

namespace kilochain {
namespace {

/// Entries of X times classes up to which a chain alone is quicker than the fixed cost of products.
constexpr double team_entries = 4000;
/// The share of X up to which its panels are quicker than a BLAS with all of it (logistic_cpu.cpp has their rates).
constexpr double most_kept = 0.8;

template <class Real>
class SoftmaxCpu final : public Target<Real> {
 public:
  using Model = SoftmaxRegression<Real>;
  using Evaluator = SoftmaxEvaluator;
  SoftmaxCpu(const Context& context, const SoftmaxSettings& settings)
      : arena_(context), evaluator_(settings.evaluator) {
    const Design design = read_softmax_design(settings);
    this->info_ = describe_softmax(design, sizeof(Real));
    const bool asked = evaluator_ != Evaluator::choose;
    const bool small = this->info_.flops / 4 <= team_entries;
    Panels panels;
    if (evaluator_ == Evaluator::sparse || (!asked && !small && density(design) < most_kept))
      panels = find_panels(design, panel_rows<Real>());
    const bool none = panels.begin.empty();
    const double kept = none ? 1 : panels.kept(design.columns), unit = none ? 0 : byte_unit(design);
    if (!asked) evaluator_ = small ? Evaluator::team : kept < most_kept ? Evaluator::sparse : Evaluator::gemm;
    evaluation_ = fmt::format("{} ({}): {} observations x {} features x {} classes, {:.1f} MB",
                              softmax_evaluator_names.value[static_cast<int>(evaluator_)], asked ? "as asked" : "auto",
                              design.rows, design.columns, design.classes.size(), 1e-6 * this->info_.bytes);
    if (evaluator_ == Evaluator::sparse) {
      if (unit > 0)
        many_ = std::make_unique<SparseSoftmax<Real, std::uint8_t>>(context, design, panels, unit, settings.prior_sd);
      else
        many_ = std::make_unique<SparseSoftmax<Real, Real>>(context, design, panels, 1.0, settings.prior_sd);
      evaluation_ += fmt::format(", {:.0f} % are kept{}", 100 * kept, unit > 0 ? ", as bytes" : "");
      return;
    }
    const bool team = evaluator_ == Evaluator::team;
    data_ = Model::place(design, settings.prior_sd, arena_, team, !team);
    if (team) return;
    auto gemm = std::make_unique<GemmSoftmax<Real>>(data_, settings.prior_sd);
    width_ = gemm->width();
    evaluation_ += fmt::format(", read once for {} chains", width_);
    many_ = std::move(gemm);
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (many_) return many_->evaluate(exchange, first, last);
    Real* scratch = logistic::thread_scratch<Real>(Model::scratch(data_));
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing)
        Model::evaluate(HostTeam{}, data_, exchange.needs[chain], exchange.query(chain), exchange.reply(chain),
                        scratch);
  }
  /// Whole products of a BLAS: a thread's chains begin where a product does.
  Index tile(Index num_chains, int threads) const override {
    if (!many_) return 1;
    const Index share = (num_chains + threads - 1) / threads;
    return std::clamp<Index>((share + width_ - 1) / width_, 1, std::max<Index>(1, 64 / width_)) * width_;
  }
  std::string evaluation() const override { return evaluation_; }

 private:
  Arena<Real> arena_;
  Evaluator evaluator_;
  std::string evaluation_;
  typename Model::Data data_{};
  Index width_ = 1;                         // chains of one product
  std::unique_ptr<ManyChains<Real>> many_;  // null: one chain at a time
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> SoftmaxRegression<Real>::make_cpu(const Context& context, const Settings& settings) {
  return std::make_unique<SoftmaxCpu<Real>>(context, settings);
}
template std::unique_ptr<Target<float>> SoftmaxRegression<float>::make_cpu(const Context&, const SoftmaxSettings&);
template std::unique_ptr<Target<double>> SoftmaxRegression<double>::make_cpu(const Context&, const SoftmaxSettings&);

}  // namespace kilochain
