#include "papers/titsias2019/figures.hpp"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/registry/registry.hpp"
#include "papers/titsias2019/rows.hpp"

namespace kilochain::titsias2019 {
namespace {

using Json = nlohmann::json;
using TickFraction = std::function<void(double)>;

constexpr std::size_t trace_step = 5;  ///< of traces, every fifth value is kept: more than a picture has columns

double rounded(double v) { return std::stod(fmt::format("{:.5g}", v)); }

Json numbers(const std::vector<double>& values, std::size_t step = 1) {
  Json out = Json::array();
  for (std::size_t k = 0; k < values.size(); k += step) out.push_back(rounded(values[k]));
  return out;
}

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A square matrix from its rows, and back.
Matrix matrix_of(const std::vector<double>& rows) {
  const Eigen::Index n = std::lround(std::sqrt(rows.size()));
  return Eigen::Map<const Matrix>(rows.data(), n, n);
}
Json to_json(const Matrix& m) {
  Json out = Json::array();
  for (const auto& row : m.rowwise()) out.push_back(numbers({row.begin(), row.end()}));
  return out;
}
std::vector<double> diagonal(const std::vector<double>& rows) {
  const Eigen::VectorXd d = matrix_of(rows).diagonal();
  return {d.begin(), d.end()};
}
/// L L' of what a chain has learnt.
Matrix covariance(const Learnt& learnt) {
  const Matrix L = matrix_of(learnt.factor);
  return L * L.transpose();
}

struct OneChain {
  OneChain(Setup s, std::uint64_t seed, const std::atomic<bool>& stop)
      : setup(std::move(s)),
        target(make_target<double>(context, setup.target, setup.target_settings)),
        chain(setup, *target, 0, 1, seed, stop) {}
  Setup setup;
  Context context = cpu_context(1);  ///< the target keeps a reference to it
  std::unique_ptr<Target<double>> target;
  Repeats<double> chain;
};

Setup gaussian(const char* preset, const char* sampler, SettingTexts settings, std::int64_t num_warmup,
               const char* init) {
  settings.insert({{"optimizer", "rmsprop"}, {"beta_control", "paper"}});
  return {"gaussian", sampler, {{"preset", preset}}, settings, num_warmup, 1000, init};
}

Json covariances(std::uint64_t seed, const std::atomic<bool>& stop, const TickFraction& tick) {
  Json out = {{"two_dimensions", Json::array()}};
  for (const char* accept : {"0.25", "0.4"}) {
    OneChain one(
        gaussian("gauss2d_corr", "gad_rwm", {{"learning_rate", "5e-4"}, {"target_accept", accept}}, 20000, "zeros"),
        seed, stop);
    one.chain.warm_up(15000);
    double log_beta = 0;
    for (int k = 0; k < 500; ++k) {
      one.chain.warm_up(10);
      log_beta += std::log(one.chain.learnt(0).beta) / 500;
    }
    const Learnt learnt = one.chain.learnt(0);
    out["two_dimensions"].push_back({{"target_accept", std::stod(accept)},
                                     {"beta", rounded(learnt.beta)},
                                     {"beta_geometric_mean_last_5000", rounded(std::exp(log_beta))},
                                     {"learnt", to_json(covariance(learnt))},
                                     {"target", {{1, 0.99}, {0.99, 1}}}});
  }
  OneChain one(gaussian("gp51_gaussian", "gad_mala_fast", {{"learning_rate", "1e-3"}}, 200000, "normal"), seed, stop);
  one.chain.warm_up(-1, [&](std::int64_t done) { tick(static_cast<double>(done) / 200000); });
  const Matrix exact = Matrix::NullaryExpr(51, 51, [](Eigen::Index i, Eigen::Index j) {
    return std::exp(-0.5 * 0.0064 * (i - j) * (i - j) / 0.16) + (i == j ? 0.01 : 0);
  });
  const Matrix learnt = covariance(one.chain.learnt(0));
  const double scale = exact.cwiseProduct(learnt).sum() / learnt.squaredNorm();
  out["fifty_one_dimensions"] = {
      {"target", to_json(exact)},
      {"learnt", to_json(learnt)},
      {"best_scale", rounded(scale)},
      {"relative_error_best_scale", rounded((scale * learnt - exact).norm() / exact.norm())}};
  return out;
}

Json neal_traces(const DataFolder& data, std::uint64_t seed, const std::atomic<bool>& stop, const TickFraction& tick) {
  Json out = {{"coordinate", 100}, {"step", trace_step}, {"schemes", Json::array()}};
  double done = 0;
  for (const char* sampler : {"gad_mala_fast", "gad_mala_exact", "gad_rwm", "am", "hmc20"}) {
    OneChain one(setup_of("neal_gaussian", sampler, false, data, ""), seed, stop);
    if (!one.chain.warm_up(-1) || !one.chain.sample()) return {};
    out["schemes"].push_back({{"sampler", sampler},
                              {"trace", numbers(one.chain.draws(0, 99), trace_step)},
                              {"diagonal", numbers(diagonal(one.chain.learnt(0).factor))}});
    tick((done += 1) / 5);
  }
  return out;
}

/// Log density over the sampling phase, of every scheme that the paper's table of this target has.
Json log_densities(const std::string& target, const DataFolder& data, const std::string& labels, const KeepRow& keep,
                   std::uint64_t seed, const std::atomic<bool>& stop, const TickFraction& tick) {
  Json out = {{"target", target}, {"step", trace_step}, {"schemes", Json::array()}};
  double all = 0, over = 0;
  for (const PaperRow& row : titsias2019_rows())
    if (row.target == target && keep(row)) all += row.published.seconds;
  for (const PaperRow& row : titsias2019_rows()) {
    if (row.target != target || !keep(row)) continue;
    const Setup setup = setup_of(target, row.sampler, false, data, labels);
    OneChain one(setup, seed, stop);
    const double iterations = setup.num_warmup + setup.num_samples;
    const Tick share = [&](std::int64_t done) { tick((over + row.published.seconds * done / iterations) / all); };
    if (!one.chain.warm_up(-1, share) || !one.chain.sample(share)) return {};
    out["schemes"].push_back(
        {{"sampler", row.sampler}, {"name", row.paper_name}, {"log_density", numbers(one.chain.lp(0), trace_step)}});
    over += row.published.seconds;
  }
  return out;
}

Json mnist_diagonal(const DataFolder& data, const std::string& labels, std::uint64_t seed,
                    const std::atomic<bool>& stop, const TickFraction& tick) {
  OneChain one(setup_of("mnist_5v6", "gad_mala_fast", false, data, labels), seed, stop);
  if (!one.chain.warm_up(-1, [&](std::int64_t done) { tick(static_cast<double>(done) / 50000); })) return {};
  std::vector<double> pixels = diagonal(one.chain.learnt(0).factor);
  pixels.pop_back();  // the bias
  return {{"rows", 28}, {"columns", 28}, {"diagonal", numbers(pixels)}};
}

}  // namespace

Json figure_data(int figure, const DataFolder& data, const std::string& labels, const KeepRow& keep, std::uint64_t seed,
                 const std::atomic<bool>& stop, const TickFraction& tick) {
  const char* const targets[] = {"neal_gaussian", "german", "caravan", "mnist_5v6"};  // of figures 3 to 6
  if (figure == 1) return covariances(seed, stop, tick);
  if (figure == 2) return neal_traces(data, seed, stop, tick);
  if (figure <= 6) return log_densities(targets[figure - 3], data, labels, keep, seed, stop, tick);
  return mnist_diagonal(data, labels, seed, stop, tick);
}

double figure_seconds(int figure) {
  const double seconds[] = {0, 10, 10, 15, 15, 90, 4500, 60};
  return seconds[figure];
}

}  // namespace kilochain::titsias2019
