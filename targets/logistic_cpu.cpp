// The logistic regression on the CPU: one data set, three evaluators, and the choice between them.
#include "targets/logistic_blocked.hpp"

namespace kilochain {
namespace {

template <class Real>
class LogisticCpu final : public Target<Real> {
 public:
  using Model = LogisticRegression<Real>;
  LogisticCpu(const Context& context, const LogisticSettings& settings) : arena_(context), evaluator_(settings.evaluator) {
    const Design design = read_logistic_design(settings);
    this->info_ = describe_logistic(design, sizeof(Real));
    if (evaluator_ == LogisticEvaluator::choose) evaluator_ = LogisticEvaluator::blocked;
    if (evaluator_ == LogisticEvaluator::blocked)
      blocked_ = std::make_unique<BlockedLogistic<Real>>(design, settings.prior_sd, arena_);
    else
      data_ = Model::place(design, settings.prior_sd, arena_, true, false);
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    if (blocked_) return blocked_->evaluate(exchange, first, last);
    thread_local std::vector<Real> scratch;
    if (scratch.size() < Model::scratch(data_)) scratch.resize(Model::scratch(data_));
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing)
        Model::evaluate(HostTeam{}, data_, exchange.needs[chain], exchange.query(chain), exchange.reply(chain), scratch.data());
  }
  Index tile(Index num_chains, int threads) const override {
    return std::min<Index>(64, (num_chains + threads - 1) / threads);
  }

 private:
  Arena<Real> arena_;
  LogisticEvaluator evaluator_;
  typename Model::Data data_{};
  std::unique_ptr<BlockedLogistic<Real>> blocked_;
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> LogisticRegression<Real>::make_cpu(const Context& context, const Settings& settings) {
  return std::make_unique<LogisticCpu<Real>>(context, settings);
}
template std::unique_ptr<Target<float>> LogisticRegression<float>::make_cpu(const Context&, const LogisticSettings&);
template std::unique_ptr<Target<double>> LogisticRegression<double>::make_cpu(const Context&, const LogisticSettings&);

}  // namespace kilochain
