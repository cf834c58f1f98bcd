// Detailed balance of every move over all pairs of states of a 3x3 lattice, from the samplers' own probabilities:
//   pi(x) T(x, y) = pi(y) T(y, x), T added up over every way from x to y
// Tolerance: rounding, 2000 eps of the larger flow: a flow adds up at most some thousands of products of about ten
// factors.
#include <gtest/gtest.h>

#include "tests/discrete/every_replica.hpp"

namespace kilochain::discrete {
namespace {

using namespace testing_support;

class Flows {
 public:
  explicit Flows(const Enumeration& all) : all_(all), flow_(all.code.size() * all.code.size()) {}
  void add(std::size_t from, const Spins& to, double probability) {
    flow_[from * all_.code.size() + all_.index.at(code_of(to))] += all_.probability[from] * probability;
  }
  void expect_balance(const std::string& name) const {
    const std::size_t n = all_.code.size();
    double worst = 0, largest = 0;
    for (std::size_t x = 0; x < n; ++x)
      for (std::size_t y = 0; y < x; ++y) {
        worst = std::max(worst, std::abs(flow_[x * n + y] - flow_[y * n + x]));
        largest = std::max(largest, flow_[x * n + y]);
      }
    EXPECT_GT(largest, 0) << name;
    EXPECT_LE(worst, 2000 * 2.2e-16 * largest) << name;
  }

 private:
  const Enumeration& all_;
  std::vector<double> flow_;  ///< (from, to)
};

Spins spins_on(const auto& board) {
  Spins s;
  for (Index i = 0; i < board.size(); ++i) s.push_back(board.spin(i));
  return s;
}

/// Every walk of k flips down and k up from state `from`, with the probability of choosing it and accepting it.
template <class Board>
void walk(Board& board, const SpinModel& m, double gamma, Index k, Index t, double start, double chosen,
          double normalisers, std::size_t from, Flows& flows) {
  using Sampler = Intracluster<Board>;
  if (t == 2 * k) {
    const double log_r = Sampler::log_ratio(m.beta, in_rows<Board> ? 0 : gamma, board.energy() - start, normalisers);
    flows.add(from, spins_on(board), chosen * std::min(1.0, std::exp(log_r)));
    return;
  }
  const int side = t < k;
  const double total = board.total(side);
  for (Index i = 0; i < board.size(); ++i) {
    if ((board.spin(i) > 0) != (side == 1)) continue;
    const double p = board.weight(i) / total;
    double tilt = 0;
    if constexpr (in_rows<Board>) tilt = board.tilt(side, board.site(i));
    board.flip(i);
    walk(board, m, gamma, k, t + 1, start, chosen * p, normalisers + tilt + std::log(total / board.total(1 - side)),
         from, flows);
    board.flip(i);
  }
}

template <class Board>
void check_walks(const std::string& on, const SpinModel& m, const typename Board::Model& view) {
  const Enumeration all(m);
  OneReplica<Intracluster<Board>, Board> replica(m, view, {});
  for (const double gamma : {0.0, 0.6})
    for (const Index k : {1, 2}) {
      Flows flows(all);
      for (std::size_t x = 0; x < all.code.size(); ++x) {
        replica.assign(spins_of(all.code[x], m.n()));
        Board board = replica.board();
        board.set_law({gamma == 0 ? Law::equal : Law::heat_bath, gamma});
        walk(board, m, gamma, k, 0, board.energy(), 1, 0, x, flows);
      }
      flows.expect_balance("intracluster on " + on);
    }
}

template <class Board>
void check_choosers(const std::string& on, const SpinModel& m, const typename Board::Model& view) {
  check_walks<Board>(on, m, view);
  const Enumeration all(m);
  OneReplica<GibbsWithGradients<Board>, Board> replica(m, view, {});
  Flows flows(all);
  for (std::size_t x = 0; x < all.code.size(); ++x) {
    replica.assign(spins_of(all.code[x], m.n()));
    Board board = replica.board();
    board.set_law({Law::half, m.beta});
    for (Index i = 0; i < m.n(); ++i)
      for (Index j = 0; j < m.n(); ++j) {
        if (board.spin(i) < 0 || board.spin(j) > 0) continue;
        using Sampler = GibbsWithGradients<Board>;
        const double forth = Sampler::log_choice(board, true, i, j), before = board.energy();
        board.flip(i), board.flip(j);
        const double back = Sampler::log_choice(board, true, j, i);
        const double r = std::exp(-m.beta * (board.energy() - before) + back - forth);
        flows.add(x, spins_on(board), std::exp(forth) * std::min(1.0, r));
        board.flip(j), board.flip(i);
      }
  }
  flows.expect_balance("gibbs_with_gradients on " + on);
}

TEST(DetailedBalance, HoldsForWalksAndSwaps) {
  const Context context = cpu_context(1);
  const SpinModel m = torus("3x3", 0.44, 4);
  SpinArrays a(context, m);
  check_choosers<ClassBoard<MemberBits>>("classes of bits", m, *a.class_graph<std::uint16_t>());
  check_choosers<ClassBoard<MemberLists<std::uint16_t>>>("classes", m, *a.class_graph<std::uint16_t>());
  check_choosers<TreeBoard>("a tree", m, a.graph());
  check_walks<RowBoard>("rows", m, *a.rows_of_bits());
  const SpinModel rbm = small_rbm(true, 3);
  SpinArrays of_rbm(context, rbm);
  check_choosers<DenseBoard>("layers", rbm, of_rbm.layers());
}

// Each spin's own step of a sweep.
TEST(DetailedBalance, HoldsForTheFlipsOfASweep) {
  const SpinModel m = torus("3x3", 0.44, {}, 1, 0.1);
  const Enumeration all(m);
  for (const auto kind : {FlipRule::heat_bath, FlipRule::metropolis}) {
    const FlipRule rule{kind, m.beta};
    for (Index i = 0; i < m.n(); ++i) {
      Flows flows(all);
      for (std::size_t x = 0; x < all.code.size(); ++x) {
        Spins spins = spins_of(all.code[x], m.n());
        auto& spin = spins[static_cast<std::size_t>(i)];
        const double v = m.local_fields(spins.data())[static_cast<std::size_t>(i)] * spin;
        spin = static_cast<std::int8_t>(-spin);
        flows.add(x, spins, rule(v));
      }
      flows.expect_balance("a flip");
    }
  }
}

/// Every outcome of one choice of partners r (slice), or every set of flips (free).
void check_dmala(const SpinModel& m) {
  using Board = GraphSpins;
  using Sampler = Dmala<Board>;
  const Context context = cpu_context(1);
  SpinArrays a(context, m);
  const Enumeration all(m);
  DmalaSettings s{1.5, m.hamming.has_value()};
  OneReplica<Sampler, Board> replica(m, {a.graph(), a.colours()}, s);
  const Index n = m.n();
  std::vector<double> v(static_cast<std::size_t>(n)), after(static_cast<std::size_t>(n));
  Flows flows(all);
  for (Index r = 0; r < (s.slice ? n : 1); ++r)
    for (std::size_t x = 0; x < all.code.size(); ++x) {
      replica.assign(spins_of(all.code[x], n));
      Board board = replica.board();
      board.values(v.data());
      std::vector<Index> able;
      double l = 0;
      for (Index i = 0; i < n; ++i)
        if (Sampler::logit(s, m.beta, board, v.data(), i, r, l)) able.push_back(i);
      for (std::uint32_t set = 0; set < std::uint32_t(1) << able.size(); ++set) {
        const auto turn = [&] {
          for (std::size_t k = 0; k < able.size(); ++k) {
            if (!(set >> k & 1)) continue;
            board.turn(able[k]);
            if (s.slice) board.turn(Sampler::partner(able[k], r, n));
          }
        };
        const auto log_q = [&](const double* values) {
          double sum = 0, logit = 0;
          for (std::size_t k = 0; k < able.size(); ++k) {
            Sampler::logit(s, m.beta, board, values, able[k], r, logit);
            sum += Sampler::log_probability(logit, set >> k & 1);
          }
          return sum;
        };
        const double forth = log_q(v.data());
        turn();
        board.values(after.data());
        const Spins to = spins_on(board);
        const double change = m.energy(to.data()) - all.energy[x];
        const double rate = std::min(1.0, std::exp(-m.beta * change + log_q(after.data()) - forth));
        flows.add(x, to, std::exp(forth) * rate / (s.slice ? n : 1));
        turn();
      }
    }
  flows.expect_balance("dmala");
}

TEST(DetailedBalance, HoldsForDmala) {
  check_dmala(torus("3x3", 0.44, 4));
  check_dmala(torus("3x3", 0.44, {}, -1, 0.2));
}

}  // namespace
}  // namespace kilochain::discrete
