// A density that code outside this program computes, as a target on the CPU: threads call it side by side, chain by
// chain. Where it has no value the log density is minus infinity, which samplers reject; such points are counted.
#pragma once
#include <cmath>
#include <concepts>
#include <limits>
#include <utility>

#include "targets/external/call_watch.hpp"
#include "targets/external/rejections.hpp"
#include "targets/target.hpp"

namespace kilochain {

/// bool evaluate(const double* x, double* lp, double* gradient, std::string& why) const noexcept, from any thread: sets
/// *lp and, unless `gradient` is null, gradient (dim). False: there is no value at x, and `why` may say why.
template <class D>
concept ExternalDensity = requires(const D density, double* v, std::string& why) {
  requires noexcept(density.evaluate(v, v, v, why));
};

/// One that also takes many points, where many(): rows of `row` numbers, one after another, next(watch) before each.
/// The number of those that have a value; where that is smaller, the next one has none and `why` may say why.
template <class D>
concept ManyPoints = requires(const D density, double* v, std::string& why) {
  { density.many() } -> std::same_as<bool>;
  requires noexcept(density.evaluate(1, std::size_t(1), v, v, v, static_cast<void (*)(void*)>(nullptr), nullptr, why));
};

template <class Real, ExternalDensity Density>
class ExternalTarget final : public Target<Real> {
 public:
  /// `name` begins messages; call_seconds: how long a call may take before that is reported, 0: for ever.
  ExternalTarget(std::string name, std::shared_ptr<const Density> density, TargetInfo info, double call_seconds)
      : density_(std::move(density)), watch_("a call of " + name, call_seconds) {
    this->info_ = std::move(info);
    this->info_.check = [density = density_, name, call_seconds, n = dim()](const double* x) {
      const std::vector<double> at(x, x + n);
      in_time("the density of " + name, call_seconds, [density, at] {
        std::vector<double> gradient(at.size());
        double lp;
        std::string why;
        density->evaluate(at.data(), &lp, gradient.data(), why);
      });
    };
    this->info_.notes = [this, before = std::move(this->info_.notes)] {
      std::vector<std::string> notes = rejections_.notes("proposals were rejected where the density has no value");
      if (before)
        for (std::string& note : before()) notes.push_back(std::move(note));
      return notes;
    };
  }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    CallWatch::Calls calls(watch_);  // made for all chains: a gradient may take no more than 300 ns
    std::string why;
    for (Index chain = first; chain < last; ++chain) {
      if constexpr (ManyPoints<Density> && std::is_same_v<Real, double>)
        if (density_->many()) chain = answer_many(exchange, chain, last, calls, why);
      if (chain < last && exchange.needs[chain] != Needs::nothing)
        answer(exchange.needs[chain], exchange.query(chain), exchange.reply(chain), calls, why);
    }
  }

 private:
  /// Gradients of the chains from `first` on, up to one that asks for none, which is returned.
  Index answer_many(const Exchange<Real>& exchange, Index first, Index last, CallWatch::Calls& calls,
                    std::string& why) {
    const auto next = [](void* watch) { static_cast<CallWatch::Calls*>(watch)->next(); };
    Index end = first;
    while (end < last && exchange.needs[end] != Needs::nothing && exchange.needs[end] != Needs::value) ++end;
    for (Index chain = first; chain < end; ++chain) {
      const auto query = exchange.query(chain);
      const auto reply = exchange.reply(chain);
      const int found = density_->evaluate(end - chain, exchange.row, query.point.data, reply.lp, reply.gradient.data,
                                           next, &calls, why);
      for (int k = 0; k < found; ++k)
        if (std::isnan(reply.lp[k])) none(reply.lp + k, reply.gradient.data + k * exchange.row, "it is NaN");
      chain += found;
      if (chain < end) none(exchange.reply(chain).lp, exchange.reply(chain).gradient.data, std::exchange(why, {}));
    }
    return end;
  }

  std::size_t dim() const { return static_cast<std::size_t>(this->info_.dim); }

  void answer(Needs needs, const Query<Real>& query, const Reply<Real>& reply, CallWatch::Calls& calls,
              std::string& why) {
    const bool wants_gradient = needs != Needs::value;
    calls.next();
    if constexpr (std::is_same_v<Real, double>) {
      call(query.point.data, reply.lp, wants_gradient ? reply.gradient.data : nullptr, why);
    } else {
      thread_local std::vector<double> x, gradient;
      x.assign(query.point.data, query.point.data + dim());
      gradient.resize(dim());
      call(x.data(), reply.lp, wants_gradient ? gradient.data() : nullptr, why);
      if (wants_gradient) std::copy(gradient.begin(), gradient.end(), reply.gradient.data);
    }
  }
  void call(const double* x, double* lp, double* gradient, std::string& why) {
    if (density_->evaluate(x, lp, gradient, why)) {
      if (!std::isnan(*lp)) return;
      why = "it is NaN";
    }
    none(lp, gradient, std::exchange(why, {}));
  }
  /// There is no value.
  void none(double* lp, double* gradient, const std::string& why) {
    *lp = -std::numeric_limits<double>::infinity();
    if (gradient) std::fill_n(gradient, dim(), 0.0);
    rejections_.add(why);
  }

  std::shared_ptr<const Density> density_;
  Rejections rejections_;
  CallWatch watch_;
};

}  // namespace kilochain
