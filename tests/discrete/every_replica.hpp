// Every sampler on every kind of board that it runs on, small enough to enumerate.
#pragma once
#include "kernels/discrete/dmala.hpp"
#include "kernels/discrete/gibbs_with_gradients.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/sweeps.hpp"
#include "tests/discrete/small_models.hpp"

namespace kilochain::discrete::testing_support {

/// Calls visit(name, model, replica) for each; every replica has its model's arrays while it is visited.
template <class Visit>
void every_replica(Visit&& visit) {
  const Context context = cpu_context(1);
  const auto with = [&]<template <class> class Sampler, class Board>(std::string name, const SpinModel& m, auto view,
                                                                     auto settings, Rungs rungs = {1, -1, -1}) {
    if (rungs.beta < 0) rungs.beta = rungs.beta_min = m.beta;
    Sampler<Board>::resolve(settings, {m.n(), m.hamming.value_or(0), m.hamming.has_value(), m.expert.c_str()});
    OneReplica<Sampler<Board>, Board> replica(m, view, settings, rungs);
    visit(name, m, replica);
  };
  const auto choosers = [&]<class Board>(const std::string& on, const SpinModel& m, auto view) {
    if (m.hamming) {
      typename Intracluster<Board>::Settings s;
      s.walk_min = 1, s.walk_max = 3, s.gamma_min = 0, s.gamma_max = 0.9;
      with.template operator()<Intracluster, Board>("intracluster on " + on, m, view, s);
      with.template operator()<Intracluster, Board>("tempered intracluster on " + on, m, view, s,
                                                    {3, m.beta, m.beta / 2});
      s.policy.rows = 3, s.policy.has[0] = s.policy.has[1] = true;
      const double rows[3][2] = {{0, 1}, {0.4, 4}, {1.1, 2}};
      for (int k = 0; k < 3; ++k) s.policy.value[k][0] = rows[k][0], s.policy.value[k][1] = rows[k][1];
      with.template operator()<Intracluster, Board>("intracluster by a policy on " + on, m, view, s);
    }
    typename GibbsWithGradients<Board>::Settings g;
    g.moves = 3;  // odd: two states would otherwise always come back
    with.template operator()<GibbsWithGradients, Board>("gibbs_with_gradients on " + on, m, view, g);
  };
  const auto rows = [&](const std::string& on, const SpinModel& m) {
    const auto view = *SpinArrays(context, m).rows_of_bits();
    typename Intracluster<RowBoard<1>>::Settings s;
    s.walk_min = 1, s.walk_max = 3, s.gamma_min = 0, s.gamma_max = 0.9;
    with.template operator()<Intracluster, RowBoard<1>>("intracluster by rows on " + on, m, view, s);
    s.gamma_min = s.gamma_max = 0.3, s.walk_min = 20, s.walk_max = 40;
    with.template operator()<Intracluster, RowBoard<1>>("long walks by rows on " + on, m, view, s);
  };
  const auto sweepers = [&]<class Board>(const std::string& on, const SpinModel& m, auto view) {
    if (!m.hamming) {
      with.template operator()<Gibbs, Board>("gibbs on " + on, m, view, typename Gibbs<Board>::Settings{});
      with.template operator()<Metropolis, Board>("metropolis on " + on, m, view,
                                                  typename Metropolis<Board>::Settings{2});
      with.template operator()<Gibbs, Board>("tempered gibbs on " + on, m, view, typename Gibbs<Board>::Settings{},
                                             {2, m.beta, m.beta / 3});
    }
    typename Dmala<Board>::Settings d;
    d.step_size = 2;
    with.template operator()<Dmala, Board>("dmala on " + on, m, view, d);
  };
  for (const bool slice : {true, false}) {
    const auto up = [&](std::int64_t n) { return slice ? std::optional<std::int64_t>(n) : std::nullopt; };
    const std::string where = slice ? " slice" : " free";
    for (const SpinModel& m : {torus("3x3", 0.4, up(4)), torus("2x2x2", 0.3, up(3), -1, 0.2),
                               glass(9, false, 0.5, up(5)), glass(2, false, 0.5, up(1))}) {
      SpinArrays a(context, m);
      const std::string on = m.target + " of " + std::to_string(m.n()) + where;
      const auto classes = *a.class_graph<std::uint16_t>();
      choosers.template operator()<ClassBoard<MemberBits>>(on + ", classes of bits", m, classes);
      choosers.template operator()<ClassBoard<MemberLists<std::uint16_t>>>(on + ", classes", m, classes);
      choosers.template operator()<ClassBoard<MemberLists<std::uint32_t>>>(on + ", wide classes", m,
                                                                           *a.class_graph<std::uint32_t>());
      choosers.template operator()<TreeBoard>(on + ", tree", m, a.graph());
      if (slice && a.rows_of_bits()) rows(on, m);
      typename ClassSpins<std::uint16_t>::Model spins{*a.class_graph<std::uint16_t>(), a.colours()};
      sweepers.template operator()<ClassSpins<std::uint16_t>>(on + ", classes", m, spins);
      sweepers.template operator()<GraphSpins>(on + ", graph", m, GraphSpins::Model{a.graph(), a.colours()});
    }
    {
      const SpinModel m = glass(10, true, 0.7, up(5));
      SpinArrays a(context, m);
      choosers.template operator()<TreeBoard>("a real glass" + where, m, a.graph());
      typename GraphSpins::Model spins{a.graph(), a.colours()};
      sweepers.template operator()<GraphSpins>("a real glass" + where, m, spins);
    }
    for (const bool biases : {true, false}) {
      const SpinModel m = small_rbm(biases, up(5));
      SpinArrays a(context, m);
      const std::string on = std::string("the RBM ") + (biases ? "with" : "without") + " biases" + where;
      choosers.template operator()<DenseBoard>(on, m, a.layers());
      sweepers.template operator()<LayerSpins>(on, m, a.layers());
    }
  }
  rows("the 3x4 torus, J < 0, in a field", torus("3x4", 0.3, 5, -1, 0.4));
  rows("the 4x3 torus", torus("4x3", 0.4, 3));
  for (const double J : {0.25, -0.25}) {
    const SpinModel m = torus("4x4", 1, {}, J);
    SpinArrays a(context, m);
    with.template operator()<Metropolis, PackedLattice>(
        "metropolis on words of the 4x4 torus, J = " + std::to_string(J), m, *a.packed(),
        typename Metropolis<PackedLattice>::Settings{});
  }
}

}  // namespace kilochain::discrete::testing_support
