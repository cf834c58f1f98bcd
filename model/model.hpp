// A model of a user as a target. A model is a class with `meaning` and one of
//   log_density(p, data)                        a template over p (model/parameters.hpp): derivatives are made for it
//   log_density_and_gradient(data, x, gradient) and dim(data): in real coordinates, with a gradient of its own
//   log_density(data, x) and dim(data): the same without one; only samplers that need none are offered
// and, when it has data: Data (plain, copied to devices) and load(json, loader), or with Settings of its own
// settings(visit, s) and load(settings, loader). Everything is computed in double. The host keeps a copy of the data,
// to record constrained values and to check a model before a run.
// Cost of a gradient: (1 + 1/W) dim evaluations by duals, W = 8 directions at once on the CPU, one for each lane on
// CUDA; where it is less on the CPU, 2 to 5 evaluations in all by a tape
// (docs/decisions/0006-automatic-differentiation.md).
#pragma once
#include <memory>
#include <string>
#include <type_traits>

#include "base/error.hpp"
#include "kernels/settings.hpp"
#include "model/guarded.hpp"
#include "model/loader.hpp"
#include "model/parameters.hpp"

namespace kilochain {
namespace model_detail {

struct Nothing {};

/// What a model has in place of Settings and Data that it does not name.
template <class M>
auto data_of() {
  if constexpr (requires { typename M::Data; })
    return std::type_identity<typename M::Data>();
  else
    return std::type_identity<Nothing>();
}
template <class M>
using DataOf = typename decltype(data_of<M>())::type;
template <class M>
concept LoadsJson = requires(const JsonData& json, Loader& loader) {
  M::load(json, loader);
};
template <class M>
auto settings_of() {
  if constexpr (requires { typename M::Settings; })
    return std::type_identity<typename M::Settings>();
  else if constexpr (LoadsJson<M>)
    return std::type_identity<DataFile>();
  else
    return std::type_identity<Nothing>();
}

template <class M>
concept OwnGradient = requires(const DataOf<M>& d, const double* x, double* g) {
  M::log_density_and_gradient(d, x, g);
};
template <class M>
concept ValueOnly = !OwnGradient<M> && requires(const DataOf<M>& d, const double* x) {
  M::log_density(d, x);
};

}  // namespace model_detail

template <class Model, class Real>
struct ModelTarget {
  static constexpr const char* meaning = Model::meaning;
  using Settings = typename decltype(model_detail::settings_of<Model>())::type;
  using UserData = model_detail::DataOf<Model>;
  static constexpr bool own_gradient = model_detail::OwnGradient<Model>, value_only = model_detail::ValueOnly<Model>;
  static constexpr int host_directions = 8;  ///< of a dual: a register of them
  static constexpr bool automatic = !own_gradient && !value_only;

  template <class V>
  static void settings(V&& visit, Settings& s) {
    if constexpr (std::is_same_v<Settings, DataFile>)
      visit("data", s.data, "JSON file of the model's data, or with a section \"data\" that has them");
    else if constexpr (!std::is_same_v<Settings, model_detail::Nothing>)
      Model::settings(visit, s);
  }

  struct Data {
    UserData user;
    Index n;
    Layout layout;         ///< of the parameters, where derivatives are made here
    bool by_tape = false;  ///< derivatives on the host, rather than by duals
    std::size_t room = 0;  ///< doubles for the model's arrays
  };

  static Data prepare(const Settings& s, Arena<Real>& arena, TargetInfo& info) {
    const auto host = std::make_shared<OnHost>();
    host->data = load(s, host->arena);
    if constexpr (automatic) {
      Recorder finds(host->variables);
      evaluated(Parameters<double>({nullptr}, {}, finds), host->data);
      host->prior_only = info.is_prior = arena.context().prior_only && host->variables.has_likelihood();
      info.dim = host->variables.num_coordinates();
      name_values(host->variables, info);
      info.constrain = [host](const double* x, const DrawId& draw, double* values) { record(*host, x, draw, values); };
    } else {
      info.dim = Model::dim(host->data);
      for (Index i = 0; i < info.dim; ++i) info.names.push_back("x[" + std::to_string(i) + "]");
      info.offers = own_gradient ? Needs::gradient : Needs::value;
    }
    require(info.dim > 0, ExitStatus::usage, std::string("model \"") + meaning + "\" has no parameters",
            "0 coordinates", "Read at least one parameter in log_density?");
    info.check = [host, n = info.dim](const double* x) { check(*host, n, x); };
    Layout layout(host->variables);
    layout.prior_only = host->prior_only;
    // Each lane of a device has its own; its widest numbers are 4 doubles, the host's 2 (1 + host_directions).
    const Index widest =
        arena.context().backend == Backend::cpu ? 2 * (1 + host_directions) : 4 * std::min(info.dim, 32);
    return {load(s, arena.doubles()), info.dim, layout, false,
            static_cast<std::size_t>(layout.room) * static_cast<std::size_t>(widest)};
  }
  /// Chooses how derivatives are made on the host: what a tape holds at 0 says what each way costs.
  static void prepare_host(Data& d) requires automatic {
    const std::vector<double> zeros(static_cast<std::size_t>(d.n));
    const auto& tape = Tape<double>::start(d.n);
    std::vector<Var<double>> room(static_cast<std::size_t>(d.layout.room));
    evaluated(Parameters<Var<double>>({zeros.data()}, d.layout, room.data()), d.user);
    d.by_tape = tape.is_quicker_than_duals(host_directions);
  }
  static KC_HD std::size_t scratch(const Data& d) {
    // point, direction, gradient in double, and the model's arrays
    return (3 * static_cast<std::size_t>(d.n) + d.room) * (sizeof(double) / sizeof(Real));
  }

  template <class Team>
  static KC_HD void evaluate(const Team& team, const Data& d, Needs needs, const Query<Real>& query,
                             const Reply<Real>& reply, Real* scratch) {
    double* const x = reinterpret_cast<double*>(scratch);
    double *const direction = x + d.n, *const gradient = direction + d.n;
    team.for_each(d.n, [&](Index i) { x[i] = double(query.point[i]); });
    if (needs == Needs::hessian_vector) team.for_each(d.n, [&](Index i) { direction[i] = double(query.direction[i]); });
    team.sync();
    if constexpr (own_gradient) {
      team.single([&] { *reply.lp = Model::log_density_and_gradient(d.user, x, gradient); });
      team.sync();
      team.for_each(d.n, [&](Index i) { reply.gradient[i] = Real(gradient[i]); });
    } else if constexpr (value_only) {
      team.single([&] { *reply.lp = Model::log_density(d.user, x); });
    } else {
      differentiate(team, d, needs, x, direction, reply, gradient + d.n);
    }
  }

 private:
  /// What the host keeps for recording and checking, as long as the target is.
  struct OnHost {
    Context context = cpu_context(1);
    Arena<double> arena{context};
    UserData data;
    Variables variables{meaning};
    bool prior_only = false;
  };

  static UserData load(const Settings& s, Arena<double>& arena) {
    Loader loader(arena);
    if constexpr (model_detail::LoadsJson<Model>)
      return Model::load(s.json(), loader);
    else if constexpr (requires { Model::load(s, loader); })
      return Model::load(s, loader);
    else
      return {};
  }

  static void name_values(const Variables& variables, TargetInfo& info) {
    for (const DataArray& y : variables.observed())
      info.constants.push_back({y.name(),
                                {std::string(y.name()) + "_dim"},
                                {static_cast<std::size_t>(y.size())},
                                {y.begin(), y.end()},
                                "observed_data"});
    info.num_posterior = static_cast<std::size_t>(variables.num_posterior_values());
    for (const Block& block : variables.all()) {
      const std::string name = block.recorded, group = info.is_prior ? "prior" : "posterior";
      if (block.kind == Kind::log_likelihood && info.is_prior) continue;
      info.variables.push_back({name, {}, block.kind == Kind::predictions ? group + "_predictive" : group});
      if (block.kind == Kind::log_likelihood) info.variables.back().group = "log_likelihood";
      const Index columns = block.columns;
      auto& shape = info.variables.back().shape;
      if (columns > 0)
        shape = {static_cast<std::size_t>(block.size / columns), static_cast<std::size_t>(columns)};
      else if (is_array(block.kind))
        shape = {static_cast<std::size_t>(block.size)};
      for (Index i = 0; i < block.size; ++i) {
        const std::string at =
            columns > 0 ? std::to_string(i / columns) + "," + std::to_string(i % columns) : std::to_string(i);
        info.names.push_back(is_array(block.kind) ? name + "[" + at + "]" : name);
        if (block.kind == Kind::cholesky_corr && (i == 0 || i % columns > i / columns))
          info.fixed.push_back(info.names.back());
      }
    }
  }

  /// The model's density at p's point, in p's numbers and coordinates.
  template <class P>
  static KC_INLINE typename P::Scalar evaluated(P p, const UserData& data) {
    const typename P::Scalar lp = Model::log_density(p, data);
    return p.finish(lp);
  }
  static void record(const OnHost& host, const double* x, const DrawId& draw, double* values) {
    Recorder recorder(host.variables, values, {draw.seed, draw.chain, draw.draw}, host.prior_only);
    evaluated(Parameters<double>({x}, {}, recorder), host.data);
  }
  /// Evaluates once with every check, what is only recorded too; where the model has plain pointers, what stands around
  /// their memory is watched.
  static void check(const OnHost& host, Index n, const double* x) {
    if constexpr (automatic) {
      std::vector<double> values(static_cast<std::size_t>(host.variables.num_values()));
      record(host, x, {}, values.data());
    } else if constexpr (own_gradient) {
      check_gradient(meaning, n, x, [&](const double* at, double* gradient) {
        return Model::log_density_and_gradient(host.data, at, gradient);
      });
    } else {
      check_value(meaning, n, x, [&](const double* at) { return Model::log_density(host.data, at); });
    }
  }

  template <class Team>
  static KC_HD void differentiate(const Team& team, const Data& d, Needs needs, const double* x,
                                  const double* direction, const Reply<Real>& reply, double* room) {
    if constexpr (Team::on_host)
      if (d.by_tape && needs != Needs::value) return sweep_back(d, needs, x, direction, reply, room);
    constexpr int W = Team::on_host ? host_directions : 1;  // on a device the other lanes have the others
    const Index blocks = (d.n + W - 1) / W;
    Layout layout = d.layout;
    if constexpr (!Team::on_host) layout.variables = nullptr;
    if (needs == Needs::value) {
      team.single([&] { *reply.lp = evaluated(Parameters<double>({x}, layout, room), d.user); });
    } else if (needs == Needs::gradient) {
      for_blocks(team, blocks, [&](Index b) {
        using T = Dual<double, W>;
        const auto lp = evaluated(Parameters<T>({x, b * W}, layout, lane_room<Team, T>(layout, room, b)), d.user);
        for (int k = 0; k < W && b * W + k < d.n; ++k) reply.gradient[b * W + k] = Real(lp.d[k]);
        if (b == 0) *reply.lp = lp.v;
      });
    } else {
      for_blocks(team, blocks, [&](Index b) {
        using T = Dual<Dual<double, 1>, W>;
        const auto lp =
            evaluated(Parameters<T>({x, direction, b * W}, layout, lane_room<Team, T>(layout, room, b)), d.user);
        for (int k = 0; k < W && b * W + k < d.n; ++k) reply.hessian_vector[b * W + k] = Real(lp.d[k].d[0]);
      });
    }
  }
  /// Where block b of directions has the model's arrays: blocks that lanes differentiate at a time are apart.
  template <class Team, class T>
  static KC_INLINE T* lane_room(const Layout& layout, double* room, Index b) {
    return reinterpret_cast<T*>(room) +
           (Team::on_host ? 0 : b % Team::lanes * static_cast<std::ptrdiff_t>(layout.room));
  }
  static void sweep_back(const Data& d, Needs needs, const double* x, const double* direction, const Reply<Real>& reply,
                         double* room) {
    if (needs == Needs::gradient) {
      auto& tape = Tape<double>::start(d.n);
      const auto lp = evaluated(Parameters<Var<double>>({x}, d.layout, reinterpret_cast<Var<double>*>(room)), d.user);
      const double* const slopes = tape.sweep(lp.node);
      for (Index i = 0; i < d.n; ++i) reply.gradient[i] = Real(slopes[i]);
      *reply.lp = lp.v;
    } else {
      auto& tape = Tape<Dual<double, 1>>::start(d.n);
      using T = Var<Dual<double, 1>>;
      const auto lp = evaluated(Parameters<T>({x, direction}, d.layout, reinterpret_cast<T*>(room)), d.user);
      const Dual<double, 1>* const slopes = tape.sweep(lp.node);
      for (Index i = 0; i < d.n; ++i) reply.hessian_vector[i] = Real(slopes[i].d[0]);
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
