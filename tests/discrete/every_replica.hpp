// Every sampler on every kind of board that it runs on, small enough to enumerate.
//   every_replica(visit): of all kinds of models;  EveryReplica(visit).of_classes(model): of one with one J or -J
// visit(name, model, replica); every replica has its model's arrays while it is visited.
#pragma once
#include "kernels/discrete/dmala.hpp"
#include "kernels/discrete/gibbs_with_gradients.hpp"
#include "kernels/discrete/intracluster.hpp"
#include "kernels/discrete/sweeps.hpp"
#include "tests/discrete/small_models.hpp"

namespace kilochain::discrete::testing_support {

template <class Visit>
class EveryReplica {
 public:
  explicit EveryReplica(Visit& visit) : visit_(visit) {}

  /// On boards of classes, of a tree and of the graph; walks by rows where the model has them.
  void of_classes(const SpinModel& m) {
    SpinArrays a(context_, m);
    const std::string on = m.target + " of " + std::to_string(m.n()) + (m.hamming ? " slice" : " free");
    const auto classes = *a.class_graph<std::uint16_t>();
    choosers<ClassBoard<MemberBits>>(on + ", classes of bits", m, classes);
    choosers<ClassBoard<MemberLists<std::uint16_t>>>(on + ", classes", m, classes);
    choosers<ClassBoard<MemberLists<std::uint32_t>>>(on + ", wide classes", m, *a.class_graph<std::uint32_t>());
    choosers<TreeBoard>(on + ", tree", m, a.graph());
    if (m.hamming && a.rows_of_bits()) rows(on, m);
    typename ClassSpins<std::uint16_t>::Model spins{*a.class_graph<std::uint16_t>(), a.colours()};
    sweepers<ClassSpins<std::uint16_t>>(on + ", classes", m, spins);
    sweepers<GraphSpins>(on + ", graph", m, GraphSpins::Model{a.graph(), a.colours()});
  }
  void of_reals(const std::string& on, const SpinModel& m) {
    SpinArrays a(context_, m);
    choosers<TreeBoard>(on, m, a.graph());
    sweepers<GraphSpins>(on, m, GraphSpins::Model{a.graph(), a.colours()});
  }
  void of_layers(const std::string& on, const SpinModel& m) {
    SpinArrays a(context_, m);
    choosers<DenseBoard>(on, m, a.layers());
    sweepers<LayerSpins>(on, m, a.layers());
  }
  void rows(const std::string& on, const SpinModel& m) {
    const auto view = *SpinArrays(context_, m).rows_of_bits();
    typename Intracluster<RowBoard>::Settings s;
    s.walk_min = 1, s.walk_max = 3, s.gamma_min = 0, s.gamma_max = 0.9;
    with<Intracluster, RowBoard>("intracluster by rows on " + on, m, view, s);
    s.gamma_min = s.gamma_max = 0.3, s.walk_min = 20, s.walk_max = 40;
    with<Intracluster, RowBoard>("long walks by rows on " + on, m, view, s);
  }
  void words(const SpinModel& m) {
    SpinArrays a(context_, m);
    with<Metropolis, PackedLattice>("metropolis on words of the 4x4 torus, J = " + std::to_string(m.edges[0].coupling),
                                    m, *a.packed(), typename Metropolis<PackedLattice>::Settings{});
  }

 private:
  template <template <class> class Sampler, class Board, class Settings>
  void with(const std::string& name, const SpinModel& m, const typename Board::Model& view, Settings settings,
            Rungs rungs = {1, -1, -1}) {
    if (rungs.count > 1 && m.beta == 0) return;  // no ladder ends there
    if (rungs.beta < 0) rungs.beta = rungs.beta_min = m.beta;
    Sampler<Board>::resolve(settings, {m.n(), m.hamming.value_or(0), m.hamming.has_value(), m.expert.c_str()});
    OneReplica<Sampler<Board>, Board> replica(m, view, settings, rungs);
    visit_(name, m, replica);
  }
  template <class Board>
  void choosers(const std::string& on, const SpinModel& m, const typename Board::Model& view) {
    if (m.hamming) {
      typename Intracluster<Board>::Settings s;
      s.walk_min = 1, s.walk_max = 3, s.gamma_min = 0, s.gamma_max = 0.9;
      with<Intracluster, Board>("intracluster on " + on, m, view, s);
      with<Intracluster, Board>("tempered intracluster on " + on, m, view, s, {3, m.beta, m.beta / 2});
      s.policy.rows = 3, s.policy.has[0] = s.policy.has[1] = true;
      const double rows[3][2] = {{0, 1}, {0.4, 4}, {1.1, 2}};
      for (int k = 0; k < 3; ++k) s.policy.value[k][0] = rows[k][0], s.policy.value[k][1] = rows[k][1];
      with<Intracluster, Board>("intracluster by a policy on " + on, m, view, s);
    }
    typename GibbsWithGradients<Board>::Settings g;
    g.moves = 2;  // even: where no move is refused, a flip more or less is not seen
    with<GibbsWithGradients, Board>("gibbs_with_gradients on " + on, m, view, g);
  }
  template <class Board>
  void sweepers(const std::string& on, const SpinModel& m, const typename Board::Model& view) {
    if (!m.hamming) {
      with<Gibbs, Board>("gibbs on " + on, m, view, typename Gibbs<Board>::Settings{});
      with<Metropolis, Board>("metropolis on " + on, m, view, typename Metropolis<Board>::Settings{});
      with<Metropolis, Board>("metropolis twice on " + on, m, view, typename Metropolis<Board>::Settings{2});
      with<Gibbs, Board>("tempered gibbs on " + on, m, view, typename Gibbs<Board>::Settings{},
                         {2, m.beta, m.beta / 3});
      with<Metropolis, Board>("tempered metropolis on " + on, m, view, typename Metropolis<Board>::Settings{},
                              {2, m.beta, m.beta / 3});
    }
    typename Dmala<Board>::Settings d;
    d.step_size = 2;
    with<Dmala, Board>("dmala on " + on, m, view, d);
  }

  Visit& visit_;
  Context context_ = cpu_context(1);
};

template <class Visit>
void every_replica(Visit&& visit) {
  EveryReplica every(visit);
  for (const bool slice : {true, false}) {
    const auto up = [&](std::int64_t n) { return slice ? std::optional<std::int64_t>(n) : std::nullopt; };
    const std::string where = slice ? " slice" : " free";
    for (const SpinModel& m : {torus("3x3", 0.4, up(4)), torus("2x2x2", 0.3, up(3), -1, 0.2),
                               glass(9, false, 0.5, up(5)), glass(2, false, 0.5, up(1))})
      every.of_classes(m);
    every.of_reals("a real glass" + where, glass(10, true, 0.7, up(5)));
    for (const bool biases : {true, false})
      every.of_layers(std::string("the RBM ") + (biases ? "with" : "without") + " biases" + where,
                      small_rbm(biases, up(5)));
  }
  every.rows("the 3x4 torus, J < 0, in a field", torus("3x4", 0.3, 5, -1, 0.4));
  every.rows("the 4x3 torus", torus("4x3", 0.4, 3));
  for (const double J : {0.25, -0.25}) every.words(torus("4x4", 1, {}, J));
}

}  // namespace kilochain::discrete::testing_support
