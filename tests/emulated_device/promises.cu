#include "host/chains/cuda_target.cuh"
#include "kernels/adapt/mass.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/iteration.hpp"
#include "kernels/linalg/rank_one.hpp"
#include "kernels/random/draw.hpp"
#include "model/model.hpp"
#include "targets/asking.cuh"
#include "tests/emulated_device/promises.hpp"

namespace kilochain {
namespace {

constexpr Index n = 33;  // two panels
constexpr int num_rows = 8, num_factors = 2;

struct Held {
  float *rows, *factors;
  double* numbers;
  std::size_t size;  ///< of a factor
  FactorShape shape;
};

__global__ void __launch_bounds__(32, 1) promises_kernel(const __grid_constant__ Held memory, double* out) {
  const WarpTeam team;
  const auto row = [&](int k) { return Row<float>(memory.rows + k * padded(n), n); };
  const auto factor = [&](int k) {
    return Factor<float>(memory.factors + static_cast<std::size_t>(k) * memory.size, memory.size, memory.shape);
  };
  const Row<float> z = row(0), x = row(1), y = row(2), own = row(3), below = row(4);
  const Factor<float> L = factor(0), B = factor(1);
  const Scalar<double> lp{memory.numbers}, lp_there{memory.numbers + 1};
  double seen = 0;
  const auto read = [&](const auto* from, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) seen += static_cast<double>(from[i]);
    team.sync();
  };
  const auto near_identity = [&](const Factor<float>& F) {
    each_entry<float>(team, memory.shape, n, [&](Index i, Index j, std::size_t k) { F[k] = i == j ? 1.5f : 0.01f; });
    read(F.data, memory.size);
  };
  normals(team, Rng{3, 0, 0}, Purpose::proposal, z, n), read(z.data, n);
  near_identity(L), near_identity(B);
  multiply_lower(team, L, z, x, n), read(x.data, n);
  multiply_transposed(team, L, z, y, n), read(y.data, n);
  solve_lower(team, L, x, n), read(x.data, n);
  solve_transposed(team, L, y, n), read(y.data, n);
  floor_diagonal(team, L, 2.0f, n), read(L.data, memory.size);
  add_outer(team, B, 0.1f, z, n), read(B.data, memory.size);
  seen += decompose(team, B, n), read(B.data, memory.size);
  scale_by(team, L, B, 1.0f, n), read(L.data, memory.size);
  seen += scale_rank_one(team, L, 0.1f, 1.0f, z, own, below, n);
  read(z.data, n), read(L.data, memory.size), read(own.data, n), read(below.data, n);

  team.single([&] { *lp_there = -3; });
  team.sync();
  const Query<float> query{z, row(5), nullptr};
  const Reply<float> reply{lp_there.data, x, row(6)};
  Position<float> place{y, lp};
  start_at(team, place, query, reply, n), read(y.data, n), read(lp.data, 1);
  PositionAndGradient<float> with_gradient{{own, lp}, below};
  start_at(team, with_gradient, query, reply, n), read(own.data, n), read(below.data, n), read(lp.data, 1);
  Info info;
  seen += *lp;
  settle(team, Decision{true, true, 1}, place, query, reply, info, n), read(y.data, n), read(lp.data, 1);
  MassAdaptation<float> learnt;
  double plain = 0;
  learnt.F = L, learnt.plain.data = &plain;
  for (const Mass mass : {Mass::unit, Mass::diagonal, Mass::dense})
    if (mass_shape(mass) == memory.shape) kick(team, mass, learnt, 0.1f, x, y, row(7), n), read(y.data, n);
  out[team.rank()] = seen;
}

__global__ void __launch_bounds__(64, 1) sums_kernel(double* out) {
  const BlockTeam<64> team;
  double seen = 0;
  for (int k = 0; k < 3; ++k) seen += team.sum<double>(64, [&](Index i) { return double(i + k); });
  if (team.rank() < 32) out[team.rank()] += seen;
}

struct OwnGradient {
  static constexpr const char* meaning = "normal, with its gradient";
  struct Data {
    int unused = 0;
  };
  static Data load(const model_detail::Nothing&, Loader&) { return {}; }
  static int dim(const Data&) { return n; }
  static KC_HD double log_density_and_gradient(const Data&, const double* x, double* gradient) {
    double square = 0;
    for (int i = 0; i < n; ++i) square += x[i] * x[i], gradient[i] = -x[i];
    return -0.5 * square;
  }
};

}  // namespace

std::unique_ptr<Target<float>> make_own_gradient(const Context& context) {
  using Model = ModelTarget<OwnGradient, float>;
  return std::make_unique<CudaTarget<Model, float>>(context, Model::Settings{});
}

std::vector<Index> select_thirds(const Context& context) {
  constexpr Index chains = 150;
  std::vector<Needs> asked;
  for (Index c = 0; c < chains; ++c) asked.push_back(c % 3 == 0 ? Needs::value : Needs::nothing);
  Buffer<Needs> needs(context, chains);
  const Buffer<Index> list(context, chains + 1);
  needs.upload(asked.data());
  cuda::launch(context, cuda::select_asking<64>, dim3(1), 64, static_cast<const Needs*>(needs.data()), Index{0}, chains,
               chains, list.data() + 1, list.data());
  return list.host();
}

std::vector<double> keep_promises(const Context& context, FactorShape shape) {
  const std::size_t size = factor_size<32>(n, shape);
  const Buffer<float> rows(context, num_rows * padded(n)), factors(context, num_factors * size);
  const Buffer<double> numbers(context, 2), out(context, 32);
  cuda::launch(context, promises_kernel, dim3(1), 32, Held{rows.data(), factors.data(), numbers.data(), size, shape},
               out.data());
  cuda::launch(context, sums_kernel, dim3(1), 64, out.data());
  return out.host();
}

}  // namespace kilochain
