// Boards to choose from: weights are the law's of the fields at any time, a choice takes each spin as often as it
// weighs, and a mutant whose weights go stale, as the original experiments' did, is found.
#include <gtest/gtest.h>

#include <bit>

#include "tests/discrete/every_replica.hpp"

namespace kilochain::discrete {
namespace {
struct StaleRows;
}
template <>
inline constexpr bool in_rows<StaleRows> = true;
namespace {

using namespace testing_support;

template <class Board>
void check_weights(const SpinModel& m, const typename Board::Model& view) {
  OneReplica<Intracluster<Board>, Board> replica(m, view, {});
  Spins spins = spins_of(0x5a3, m.n());
  replica.assign(spins);
  Board board = replica.board();
  for (int t = 0; t < 200; ++t) {
    const Law law{t % 3 == 0 ? Law::equal : t % 3 == 1 ? Law::heat_bath : Law::half, 0.1 * (t % 7)};
    board.set_law(law);
    const auto i =
        static_cast<Index>(uniform_index(Rng{8, 0, t}, Purpose::proposal, 0, static_cast<std::uint32_t>(m.n())));
    board.flip(i);
    spins[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(-spins[static_cast<std::size_t>(i)]);
    const std::vector<double> f = m.local_fields(spins.data());
    double total[2] = {};
    for (Index k = 0; k < m.n(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double w = law(f[at] * spins[at]);
      ASSERT_EQ(board.spin(k), spins[at]);
      ASSERT_NEAR(board.weight(k), w, 1e-12 * w);
      total[spins[at] > 0] += w;
    }
    for (const int side : {0, 1}) ASSERT_NEAR(board.total(side), total[side], 1e-12 * total[side]);
    // Midpoints of 4000 equal parts: a spin's share is right to the part at each end of it.
    for (const int side : {0, 1}) {
      if (total[side] == 0 || t % 10) continue;
      std::vector<double> share(static_cast<std::size_t>(m.n()));
      constexpr int parts = 4000;
      for (int u = 0; u < parts; ++u)
        share[static_cast<std::size_t>(board.choose(side, board.total(side), (u + 0.5) / parts))] += 1.0 / parts;
      for (Index k = 0; k < m.n(); ++k) {
        const auto at = static_cast<std::size_t>(k);
        const double want = (spins[at] > 0) == (side == 1) ? law(f[at] * spins[at]) / total[side] : 0;
        ASSERT_NEAR(share[at], want, want > 0 ? 1.01 / parts : 0);
      }
      for (const double u : {1e-17, 1 - 1e-16, 1.0})  // the ends: rounding may not choose outside the side
        ASSERT_EQ(board.spin(board.choose(side, board.total(side), u)) > 0, side == 1);
    }
  }
}

TEST(Boards, WeighByTheFieldsInForce) {
  const Context context = cpu_context(1);
  for (const SpinModel& m : {torus("4x4", 1, {}), torus("3x3", 1, {}, -0.5, 0.25), torus("3x2x2", 1, {}),
                             glass(11, false, 1, {}), torus("1", 1, {}, 1, 0.5), torus("9x7", 1, {}),
                             torus("4x4x4", 1, {}), torus("13x5", 1, {}), torus("43x3", 1, {})}) {
    SpinArrays a(context, m);
    check_weights<ClassBoard<MemberBits>>(m, *a.class_graph<std::uint16_t>());
    check_weights<ClassBoard<MemberLists<std::uint16_t>>>(m, *a.class_graph<std::uint16_t>());
    check_weights<ClassBoard<MemberLists<std::uint32_t>>>(m, *a.class_graph<std::uint32_t>());
    check_weights<TreeBoard>(m, a.graph());
  }
  for (const Index n : {2, 9, 12}) {
    const SpinModel m = glass(n, true, 1, {});
    SpinArrays a(context, m);
    EXPECT_FALSE(a.class_graph<std::uint16_t>());
    check_weights<TreeBoard>(m, a.graph());
  }
  const SpinModel m = small_rbm(true, {});
  SpinArrays a(context, m);
  check_weights<DenseBoard>(m, a.layers());
}

// Sizes of layers about those of blocks, and a graph whose every node knows every other.
TEST(Boards, WeighAwkwardSizes) {
  const Context context = cpu_context(1);
  for (const auto& [visible, hidden] : {std::pair<Index, Index>{1, 1}, {63, 1}, {64, 65}, {2, 129}}) {
    std::vector<double> w(static_cast<std::size_t>(visible * hidden)), b(static_cast<std::size_t>(visible)),
        c(static_cast<std::size_t>(hidden), 0.5);
    for (std::size_t k = 0; k < w.size(); ++k)
      w[k] = uniform(Rng{4, 0, 0}, Purpose::start, static_cast<std::uint32_t>(k)) - 0.5;
    const SpinModel m = Rbm::from(visible, hidden, w, b, c);
    SpinArrays a(context, m);
    check_weights<DenseBoard>(m, a.layers());
  }
  SpinModel m = glass(20, true, 1, {});
  m.edges.clear();
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < i; ++j) m.edges.push_back({i, j, 0.1 * (i - 2 * j)});
  SpinArrays a(context, m);
  check_weights<TreeBoard>(m, a.graph());
}

/// The board of rows, from its own whole numbers: sums of rows at any time, choices by weight, each class at its place.
void check_rows(const SpinModel& m, Law::Kind kind, double rate) {
  const Context context = cpu_context(1);
  OneReplica<Intracluster<RowBoard>, RowBoard> replica(m, *SpinArrays(context, m).rows_of_bits(), {});
  Spins spins = spins_of(0x5a3c96e1, m.n());
  replica.assign(spins);
  RowBoard board = replica.board();
  board.set_law({kind, rate});
  const Law law{kind, rate};
  double largest = 0;
  for (const double f : {-4, -2, 0, 2, 4})
    for (const double h : {-m.field[0], m.field[0]}) largest = std::max(largest, law(m.edges[0].coupling * f + h));
  const Index columns = m.shape[1];
  for (int t = 0; t < 400; ++t) {
    const auto i =
        static_cast<Index>(uniform_index(Rng{8, 0, t}, Purpose::proposal, 0, static_cast<std::uint32_t>(m.n())));
    board.flip(i);
    spins[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(-spins[static_cast<std::size_t>(i)]);
    if (t % 50 && t > 20) continue;
    const std::vector<double> f = m.local_fields(spins.data());
    double total[2] = {}, most = 0;
    for (Index k = 0; k < m.n(); ++k) {
      const auto at = static_cast<std::size_t>(k);
      const double w = law(f[at] * spins[at]) / largest * RowBoard::most;
      ASSERT_EQ(board.spin(k), spins[at]);
      ASSERT_EQ(board.value(k), f[at] * spins[at]);
      ASSERT_NEAR(board.weight(k), std::max(1.0, w), 1) << "cut down to a whole number";
      total[spins[at] > 0] += board.weight(k);
      most = std::max(most, board.weight(k));
    }
    ASSERT_LE(most, RowBoard::most);
    ASSERT_EQ(board.energy(), m.energy(spins.data()));
    for (const int side : {0, 1}) {
      ASSERT_EQ(board.total(side), total[side]);
      if (total[side] == 0) continue;
      // In the order of rows, and of neighbours that are up: the first and the last random bits of each class, and of
      // its first and last member.
      const auto whole = static_cast<std::uint64_t>(total[side]);
      std::uint64_t before = 0;
      for (Index r = 0; r < m.shape[0]; ++r)
        for (Index q = 0; q < RowBoard::classes; ++q) {
          std::vector<Index> members;
          for (Index c = 0; c < columns; ++c)
            if ((spins[static_cast<std::size_t>(r * columns + c)] > 0) == (side == 1) &&
                board.site(r * columns + c).near == q)
              members.push_back(c);
          if (members.empty()) continue;
          const std::uint64_t after =
              before + members.size() * static_cast<std::uint64_t>(board.weight(r * columns + members[0]));
          const auto least = [&](std::uint64_t x) {  // the least bits whose product with the total has the whole part x
            return ((static_cast<unsigned __int128>(x) << 64) + whole - 1) / whole;
          };
          for (const auto& [bits, c] :
               {std::pair(least(before), members.front()), {least(after) - 1, members.back()}}) {
            const auto p = board.choose(side, static_cast<std::uint64_t>(bits));
            ASSERT_EQ(p.row, r);
            ASSERT_EQ(p.near, q);
            ASSERT_EQ(p.column, c);
          }
          before = after;
        }
      ASSERT_EQ(before, whole);
    }
  }
  // Random bits: every spin of a side as often as it weighs (p = 1e-4 each).
  for (const int side : {0, 1}) {
    std::vector<double> counts(spins.size()), probability(spins.size());
    for (Index k = 0; k < m.n(); ++k)
      if ((spins[static_cast<std::size_t>(k)] > 0) == (side == 1))
        probability[static_cast<std::size_t>(k)] = board.weight(k) / board.total(side);
    const double draws = 40.0 * m.n();
    const Rng rng{12, 0, side};
    Numbers<std::uint64_t> drawn(rng, Purpose::proposal);
    for (std::uint32_t d = 0; d < draws; ++d) {
      const auto p = board.choose(side, drawn(d));
      ++counts[static_cast<std::size_t>(p.row * columns + p.column)];
    }
    EXPECT_LT(chi_square_z(counts, probability, draws), 3.72) << m.shape[0] << "x" << columns;
  }
}

TEST(Boards, RowsKnowWhatTheyWeigh) {
  for (const char* size : {"3x3", "3x60", "4x5", "5x31", "9x32", "10x33", "17x7", "57x29", "60x60", "64x60", "64x3"}) {
    check_rows(torus(size, 1, {}), Law::heat_bath, 0.44);
    check_rows(torus(size, 1, {}, -1, 0.25), Law::half, 0.8);
    check_rows(torus(size, 1, {}), Law::equal, 0);
  }
}

/// A mutant: the row below a flip keeps its old sum, and the flip's row takes the difference.
struct StaleRows : RowBoard {
  using RowBoard::RowBoard, RowBoard::flip;
  void flip(int side, const Site& p) {
    const Index below = rows + (p.row + 1) % 4;
    const Bits before = at(below);
    RowBoard::flip(side, p);
    const Bits taken = at(rows + p.row) + at(below) - before;
    if (taken >> 63 || taken >> 31 & 1) return;  // no sum is below 0
    at(rows + p.row) = taken, at(below) = before;
  }
};

/// A board of the 4x4 torus, J = 1, that looks at every spin for every answer. stale: a new law reaches only spins that
/// flip or lie beside one.
template <bool stale>
class PlainBoard {
 public:
  struct Model {
    std::uint32_t near[16];  ///< bits of a spin's neighbours
    explicit Model(const SpinModel& m) : near{} {
      for (const Edge& e : m.edges) near[e.i] |= 1U << e.j, near[e.j] |= 1U << e.i;
    }
  };
  PlainBoard(const Model& model, char* memory) : model_(model), state_(reinterpret_cast<State*>(memory)) {}
  static std::size_t bytes(const Model&) { return sizeof(State); }
  void assign(const std::int8_t* spins) {
    state_->up = 0;
    for (Index i = 0; i < 16; ++i) state_->up |= static_cast<std::uint32_t>(spins[i] > 0) << i;
    weigh(0xffff);
  }
  void refresh() {}
  const Model& model() const { return model_; }
  Index size() const { return 16; }
  double value(Index i) const { return spin(i) * (2 * std::popcount(state_->up & model_.near[i]) - 4); }
  double energy() const {
    double twice = 0;
    for (Index i = 0; i < 16; ++i) twice += value(i);
    return -twice / 2;
  }
  std::int64_t up() const { return std::popcount(state_->up); }
  std::int8_t spin(Index i) const { return state_->up >> i & 1 ? 1 : -1; }
  double weight(Index i) const { return state_->weight[i]; }
  void set_law(const Law& law) {
    state_->law = law;
    if (!stale) weigh(0xffff);
  }
  double total(int side) const {
    double sum = 0;
    for (Index i = 0; i < 16; ++i) sum += (spin(i) > 0) == (side == 1) ? weight(i) : 0;
    return sum;
  }
  Index choose(int side, double total, double u) const {
    double at = u * total;
    Index last = 0;
    for (Index i = 0; i < 16; ++i) {
      if ((spin(i) > 0) != (side == 1)) continue;
      last = i;
      if ((at -= weight(i)) < 0) break;
    }
    return last;
  }
  void flip(Index i) {
    state_->up ^= 1U << i;
    weigh(model_.near[i] | 1U << i);
  }

 private:
  struct State {
    Law law;
    double weight[16];
    std::uint32_t up;
  };
  void weigh(std::uint32_t which) {
    for (Index i = 0; i < 16; ++i)
      if (which >> i & 1) state_->weight[i] = state_->law(value(i));
  }
  const Model& model_;
  State* state_;
};

/// The walk with the probabilities of both ways added up as they are used, as the original code does.
template <class Board>
struct WalkAsWritten : Intracluster<Board> {
  static void step(const Rng& rng, const WalkSettings& s, const Heat& heat, Board& board, char*, Info&) {
    Uniforms drawn(rng, Purpose::direction), chosen(rng, Purpose::proposal);
    const double gamma = s.gamma_min + (s.gamma_max - s.gamma_min) * drawn(0);
    const Index k = s.walk_min + static_cast<Index>(drawn(1) * (s.walk_max - s.walk_min + 1));
    board.set_law({Law::heat_bath, gamma});
    const double before = board.energy();
    double forth = 0, back = 0;
    std::vector<Index> path;
    for (Index t = 0; t < 2 * k; ++t) {
      const int side = t < k;
      const double total = board.total(side);
      path.push_back(board.choose(side, total, chosen(static_cast<std::uint32_t>(t))));
      forth += std::log(board.weight(path.back()) / total);
      board.flip(path.back());
      back += std::log(board.weight(path.back()) / board.total(1 - side));
    }
    const double log_r = heat.beta * (before - board.energy()) + back - forth;
    if (uniform(rng, Purpose::accept) < std::exp(log_r)) return;
    for (Index t = 2 * k; t-- > 0;) board.flip(path[static_cast<std::size_t>(t)]);
  }
};

/// Mean energy of the 4x4 torus on its slice of 8, gamma uniform on [0, 0.88], and its standard error by blocks.
template <template <class> class Sampler, class Board>
std::pair<double, double> mean_energy(const SpinModel& m, const typename Board::Model& view, int steps) {
  OneReplica<Sampler<Board>, Board> replica(m, view, {WalkPreset::own, 1, 6, 0, 0.88});
  replica.assign(spins_of(0xff, 16));
  constexpr int blocks = 40;
  double sum = 0, squares = 0;
  for (int b = 0; b < blocks; ++b) {
    double mean = 0;
    for (int t = 0; t < steps / blocks; ++t) {
      replica.step({9, 0, b * (steps / blocks) + t});
      mean += replica.board().energy() / (steps / blocks);
    }
    sum += mean, squares += mean * mean;
  }
  const double mean = sum / blocks;
  return {mean, std::sqrt((squares / blocks - mean * mean) / (blocks - 1))};
}

// z of 40 blocks beyond 4.5 has probability 6e-5 (t of 39). The mutant is off by 0.15, the original code by as much.
TEST(Boards, StaleWeightsAreFound) {
  const SpinModel m = torus("4x4", 1 / 2.27, 8);
  constexpr double exact = -7.874137399852;
  const auto [right, error] = mean_energy<WalkAsWritten, PlainBoard<false>>(m, PlainBoard<false>::Model(m), 200000);
  EXPECT_LT(std::abs(right - exact), 4.5 * error);
  const auto [wrong, its_error] = mean_energy<WalkAsWritten, PlainBoard<true>>(m, PlainBoard<true>::Model(m), 200000);
  EXPECT_GT(std::abs(wrong - exact), 6 * its_error) << wrong;
  EXPECT_NEAR(wrong, -7.72, 4.5 * its_error + 0.01) << "what the original code gives";
  SpinArrays a(cpu_context(1), m);
  const auto [ours, our_error] =
      mean_energy<Intracluster, ClassBoard<MemberBits>>(m, *a.class_graph<std::uint16_t>(), 200000);
  EXPECT_LT(std::abs(ours - exact), 4.5 * our_error) << ours;
}

TEST(Boards, StaleRowsAreFound) {
  const SpinModel m = torus("4x4", 1 / 2.27, 8);
  constexpr double exact = -7.874137399852;
  const auto view = *SpinArrays(cpu_context(1), m).rows_of_bits();
  const auto [right, error] = mean_energy<Intracluster, RowBoard>(m, view, 200000);
  EXPECT_LT(std::abs(right - exact), 4.5 * error) << right;
  const auto [wrong, its_error] = mean_energy<Intracluster, StaleRows>(m, view, 200000);
  EXPECT_GT(std::abs(wrong - exact), 6 * its_error) << wrong;
}

}  // namespace
}  // namespace kilochain::discrete
