// A model of a user as a target. A model is a class with `meaning` and one of
//   log_density(p, data)                        a template over p (model/parameters.hpp): derivatives are made for it
//   log_density_and_gradient(data, x, gradient) and dim(data): in real coordinates, with a gradient of its own
//   log_density(data, x) and dim(data): the same without one; only samplers that need none are offered
// and, when it has data or settings: Settings, settings(visit, s), Data (plain, copied to devices), load(settings,
// loader). Everything is computed in double. The host keeps a copy of the data, to record constrained values. Cost of a
// gradient: (1 + 1/W) dim evaluations by duals, 8 directions at once on the CPU, one for each lane on CUDA; where it is
// less on the CPU, 2 to 5 evaluations in all by a tape (docs/decisions/0006-automatic-differentiation.md).
#pragma once
#include <memory>
#include <string>
#include <type_traits>

#include "kernels/device/error.hpp"
#include "kernels/settings.hpp"
#include "model/loader.hpp"
#include "model/parameters.hpp"

namespace kilochain {
namespace model_detail {

struct Nothing {};
template <class M>
struct SettingsOf {
  using Type = Nothing;
};
template <class M>
requires requires { typename M::Settings; }
struct SettingsOf<M> {
  using Type = typename M::Settings;
};
template <class M>
struct DataOf {
  using Type = Nothing;
};
template <class M>
requires requires { typename M::Data; }
struct DataOf<M> {
  using Type = typename M::Data;
};
template <class M>
concept OwnGradient = requires(const typename DataOf<M>::Type& d, const double* x, double* g) {
  M::log_density_and_gradient(d, x, g);
};
template <class M>
concept ValueOnly = !OwnGradient<M> && requires(const typename DataOf<M>::Type& d, const double* x) {
  M::log_density(d, x);
};

}  // namespace model_detail

template <class Model, class Real>
struct ModelTarget {
  static constexpr const char* meaning = Model::meaning;
  using Settings = typename model_detail::SettingsOf<Model>::Type;
  using UserData = typename model_detail::DataOf<Model>::Type;
  static constexpr bool own_gradient = model_detail::OwnGradient<Model>, value_only = model_detail::ValueOnly<Model>;
  static constexpr int host_directions = 8;  ///< of a dual: a register of them
  static constexpr bool automatic = !own_gradient && !value_only;

  template <class V>
  static void settings(V&& visit, Settings& s) {
    if constexpr (!std::is_same_v<Settings, model_detail::Nothing>) Model::settings(visit, s);
  }

  struct Data {
    UserData user;
    Index n;
    bool by_tape = false;  ///< derivatives on the host, rather than by duals
  };

  static Data prepare(const Settings& s, Arena<Real>& arena, TargetInfo& info) {
    struct OnHost {
      Context context = cpu_context(1);
      Arena<double> arena{context};
      UserData data;
    };
    const auto host = std::make_shared<OnHost>();
    host->data = load(s, host->arena);
    if constexpr (automatic) {
      Record counted;
      Parameters<double> p({nullptr}, &counted);
      Model::log_density(p, host->data);
      info.dim = p.num_coordinates();
      name_values(counted, info);
      info.constrain = [host](const double* x, double* recorded) {
        Record record;
        record.values = recorded;
        Parameters<double> q({x}, &record);
        Model::log_density(q, host->data);
      };
    } else {
      info.dim = Model::dim(host->data);
      for (Index i = 0; i < info.dim; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
      info.offers = own_gradient ? Needs::gradient : Needs::value;
    }
    require(info.dim > 0, ExitStatus::usage, std::string("model \"") + meaning + "\" has no parameters",
            "0 coordinates", "Read at least one parameter in log_density?");
    return {load(s, arena.doubles()), info.dim};
  }
  /// Chooses how derivatives are made on the host: what a tape holds at 0 says what each way costs.
  static void prepare_host(Data& d) requires automatic {
    const std::vector<double> zeros(static_cast<std::size_t>(d.n));
    const auto& tape = Tape<double>::start(d.n);
    Parameters<Var<double>> p({zeros.data()});
    Model::log_density(p, d.user);
    d.by_tape = tape.is_quicker_than_duals(host_directions);
  }
  static KC_HD std::size_t scratch(const Data& d) {
    return 3 * static_cast<std::size_t>(d.n) * (sizeof(double) / sizeof(Real));  // point, direction, gradient in double
  }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real* scratch) {
    double* const x = reinterpret_cast<double*>(scratch);
    double *const direction = x + d.n, *const gradient = direction + d.n;
    team.for_each(d.n, [&](Index i) { x[i] = static_cast<double>(query.point[i]); });
    if (needs == Needs::hessian_vector)
      team.for_each(d.n, [&](Index i) { direction[i] = static_cast<double>(query.direction[i]); });
    team.sync();
    if constexpr (own_gradient) {
      team.single([&] { *reply.lp = Model::log_density_and_gradient(d.user, x, gradient); });
      team.sync();
      team.for_each(d.n, [&](Index i) { reply.gradient[i] = static_cast<Real>(gradient[i]); });
    } else if constexpr (value_only) {
      team.single([&] { *reply.lp = Model::log_density(d.user, x); });
    } else {
      differentiate(team, d, needs, x, direction, reply);
    }
    team.sync();
  }

 private:
  static UserData load(const Settings& s, Arena<double>& arena) {
    if constexpr (requires(Loader & l) { Model::load(s, l); }) {
      Loader loader(arena);
      return Model::load(s, loader);
    } else {
      return {};
    }
  }

  static void name_values(const Record& counted, TargetInfo& info) {
    require(counted.num_blocks <= RecordedBlock::most, ExitStatus::usage,
            std::string("model \"") + meaning + "\" has too many variables",
            std::to_string(counted.num_blocks) + ", at most " + std::to_string(RecordedBlock::most),
            "Put some of them into an array?");
    for (Index b = 0; b < counted.num_blocks; ++b) {
      const RecordedBlock& block = counted.blocks[b];
      info.variables.push_back({block.name, {}});
      if (block.size == 0) info.names.push_back(block.name);
      if (block.size > 0) info.variables.back().shape = {static_cast<std::size_t>(block.size)};
      for (Index i = 0; i < block.size; ++i)
        info.names.push_back(std::string(block.name) + "[" + std::to_string(i) + "]");
    }
  }

  template <class Team>
  static KC_HD void differentiate(const Team& team, const Data& d, Needs needs, const double* x,
                                  const double* direction, const Reply<Real>& reply) {
    if constexpr (Team::on_host)
      if (d.by_tape && needs != Needs::value) return sweep_back(d, needs, x, direction, reply);
    constexpr int W = Team::on_host ? host_directions : 1;  // on a device the other lanes have the others
    const Index blocks = (d.n + W - 1) / W;
    if (needs == Needs::value) {
      team.single([&] {
        Parameters<double> p({x});
        const double lp = Model::log_density(p, d.user);
        *reply.lp = lp + p.log_jacobian();
      });
    } else if (needs == Needs::gradient) {
      for_blocks(team, blocks, [&](Index b) {
        using T = Dual<double, W>;
        Parameters<T> p({x, b * W});
        T lp = Model::log_density(p, d.user);
        lp += p.log_jacobian();
        for (int k = 0; k < W && b * W + k < d.n; ++k) reply.gradient[b * W + k] = static_cast<Real>(lp.d[k]);
        if (b == 0) *reply.lp = lp.v;
      });
    } else {
      for_blocks(team, blocks, [&](Index b) {
        using T = Dual<Dual<double, 1>, W>;
        Parameters<T> p({x, direction, b * W});
        T lp = Model::log_density(p, d.user);
        lp += p.log_jacobian();
        for (int k = 0; k < W && b * W + k < d.n; ++k)
          reply.hessian_vector[b * W + k] = static_cast<Real>(lp.d[k].d[0]);
      });
    }
  }
  static void sweep_back(const Data& d, Needs needs, const double* x, const double* direction,
                         const Reply<Real>& reply) {
    const auto log_density = [&](auto p) {
      typename decltype(p)::Scalar lp = Model::log_density(p, d.user);
      return lp += p.log_jacobian();
    };
    if (needs == Needs::gradient) {
      auto& tape = Tape<double>::start(d.n);
      const Var<double> lp = log_density(Parameters<Var<double>>({x}));
      const double* const slopes = tape.sweep(lp.node);
      for (Index i = 0; i < d.n; ++i) reply.gradient[i] = static_cast<Real>(slopes[i]);
      *reply.lp = lp.v;
    } else {
      auto& tape = Tape<Dual<double, 1>>::start(d.n);
      const auto lp = log_density(Parameters<Var<Dual<double, 1>>>({x, direction}));
      const Dual<double, 1>* const slopes = tape.sweep(lp.node);
      for (Index i = 0; i < d.n; ++i) reply.hessian_vector[i] = static_cast<Real>(slopes[i].d[0]);
    }
  }
  /// team.for_each without its promise to the vectoriser: a body here is a whole evaluation.
  template <class Team, class F>
  static KC_HD void for_blocks(const Team& team, Index blocks, const F& f) {
    if constexpr (Team::on_host)
      for (Index b = 0; b < blocks; ++b) f(b);
    else
      team.for_each(blocks, f);
  }
};

}  // namespace kilochain
