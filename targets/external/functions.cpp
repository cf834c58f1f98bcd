#include "targets/external/functions.hpp"

#include <algorithm>

#include "targets/external/external_target.hpp"

namespace kilochain {
namespace {

/// Whether a call of a function that is not ours returns 0; else `why` says what it did.
template <class Call>
bool returns_0(std::string& why, Call call) noexcept {
  try {
    const int status = call();
    if (status == 0) return true;
    why = "it returned " + std::to_string(status);
  } catch (const std::exception& thrown) {
    why = std::string("it threw: ") + thrown.what();
  } catch (...) {
    why = "it threw";
  }
  return false;
}

class OneFunction {
 public:
  explicit OneFunction(const FunctionDensity& f) : f_(f) {}
  bool evaluate(const double* x, double* lp, double* gradient, std::string& why) const noexcept {
    thread_local std::vector<double> unwanted;
    if (!gradient) {
      unwanted.resize(static_cast<std::size_t>(f_.dim));
      gradient = unwanted.data();
    }
    return returns_0(why, [&] { return f_.one(static_cast<std::size_t>(f_.dim), x, gradient, lp, f_.user_data); });
  }

 private:
  FunctionDensity f_;
};

/// One call for all chains that ask: their points lie side by side already, or are brought together.
template <class Real>
class ChainsFunction final : public Target<Real> {
 public:
  ChainsFunction(const std::string& name, const FunctionDensity& f, TargetInfo info)
      : f_(f), watch_("a call of " + name, f.call_seconds) {
    this->info_ = std::move(info);
    this->info_.notes = [this] { return rejections_.notes("proposals were rejected where the density has no value"); };
    if (!f.tried) return;
    this->info_.check = [f, name](const double* x) {
      const std::vector<double> at(x, x + f.dim);
      in_time("the density of " + name, f.call_seconds, [f, at] {
        std::vector<double> gradient(at.size());
        double lp;
        std::string why;
        answers(f, 1, at.data(), at.size(), gradient.data(), &lp, why);
      });
    };
  }
  Index tile(Index num_chains, int) const override { return num_chains; }
  std::string evaluation() const override { return "all chains in one call"; }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    const std::size_t n = static_cast<std::size_t>(f_.dim);
    asking_.clear();
    for (Index chain = first; chain < last; ++chain)
      if (exchange.needs[chain] != Needs::nothing) asking_.push_back(chain);
    if (asking_.empty()) return;
    lp_.resize(asking_.size());
    if (std::is_same_v<Real, double> && asking_.size() == static_cast<std::size_t>(last - first)) {
      if constexpr (std::is_same_v<Real, double>) {
        const std::size_t at = exchange.row * static_cast<std::size_t>(first);
        call(exchange.point + at, exchange.row, exchange.gradient + at);
      }
    } else {
      x_.resize(n * asking_.size()), gradient_.resize(x_.size());
      for (std::size_t k = 0; k < asking_.size(); ++k)
        std::copy_n(exchange.query(asking_[k]).point.data, n, x_.data() + n * k);
      call(x_.data(), n, gradient_.data());
      for (std::size_t k = 0; k < asking_.size(); ++k)
        if (exchange.needs[asking_[k]] != Needs::value)
          std::copy_n(gradient_.data() + n * k, n, exchange.reply(asking_[k]).gradient.data);
    }
    for (std::size_t k = 0; k < asking_.size(); ++k) exchange.lp[asking_[k]] = lp_[k];
  }

 private:
  static bool answers(const FunctionDensity& f, std::size_t chains, const double* x, std::size_t row, double* gradient,
                      double* lp, std::string& why) {
    return returns_0(
        why, [&] { return f.chains(chains, static_cast<std::size_t>(f.dim), x, row, gradient, lp, f.user_data); });
  }
  void call(const double* x, std::size_t row, double* gradient) {
    std::string why;
    {
      const CallWatch::Calls call(watch_);
      if (answers(f_, lp_.size(), x, row, gradient, lp_.data(), why)) return reject_nan(row, gradient);
    }
    for (std::size_t k = 0; k < lp_.size(); ++k) reject(k, gradient + row * k, why);
  }
  void reject_nan(std::size_t row, double* gradient) {
    for (std::size_t k = 0; k < lp_.size(); ++k)
      if (std::isnan(lp_[k])) reject(k, gradient + row * k, "it is NaN");
  }
  void reject(std::size_t k, double* gradient, const std::string& why) {
    rejections_.add(why);
    lp_[k] = -std::numeric_limits<double>::infinity();
    std::fill_n(gradient, f_.dim, 0.0);
  }

  FunctionDensity f_;
  Rejections rejections_;
  CallWatch watch_;
  std::vector<Index> asking_;
  std::vector<double> x_, gradient_, lp_;
};

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> function_target(const Context& context, const std::string& name,
                                              const FunctionDensity& f) {
  require(f.dim > 0, ExitStatus::usage, name + ": the density has no coordinates", "dim is not set",
          "Give --dim, the number of its coordinates?");
  require(f.names.empty() || std::ssize(f.names) == f.dim, ExitStatus::usage, name + ": the wrong number of names",
          std::to_string(f.names.size()) + " names, dim is " + std::to_string(f.dim),
          "Give one name for each coordinate?");
  require((f.one != nullptr) + (f.chains != nullptr) + (f.on_device != nullptr) == 1, ExitStatus::usage,
          name + ": one function is wanted", "of a point, of many chains' points, or of those on a device",
          "Give one of them?");
  require(!f.on_device || context.backend == Backend::cuda, ExitStatus::usage,
          name + ": the density is for a CUDA device", "this run is on the CPU", "Run with --device cuda?");
  TargetInfo info;
  info.dim = f.dim;
  info.names = f.names;
  for (Index i = 0; f.names.empty() && i < f.dim; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
  info.offers = Needs::gradient;
#if defined(KILOCHAIN_HAS_CUDA)
  if (f.on_device) return function_target_on_device<Real>(context, f, std::move(info));
#endif
  info.in_one_call = f.chains != nullptr;
  if (f.chains) return std::make_unique<ChainsFunction<Real>>(name, f, std::move(info));
  return std::make_unique<ExternalTarget<Real, OneFunction>>(name, std::make_shared<const OneFunction>(f),
                                                             std::move(info), f.call_seconds);
}

template std::unique_ptr<Target<float>> function_target(const Context&, const std::string&, const FunctionDensity&);
template std::unique_ptr<Target<double>> function_target(const Context&, const std::string&, const FunctionDensity&);

}  // namespace kilochain
