#include "targets/discrete/rbm.hpp"

#include <fmt/format.h>

#include "targets/data/dataset.hpp"

namespace kilochain::discrete {
namespace {

std::vector<double> read_bias(const std::string& path, const char* of, std::size_t count, const Matrix& weights) {
  if (path.empty()) return std::vector<double>(count);
  const Matrix bias = read_matrix(path);
  require(bias.values.size() == count, ExitStatus::data, fmt::format("{}: the wrong number of {} biases", path, of),
          fmt::format("{} numbers, the weights are {} hidden x {} visible", bias.values.size(), weights.rows,
                      weights.columns),
          bias.values.size() == weights.rows || bias.values.size() == weights.columns
              ? "Are the weights transposed? A row belongs to a hidden unit."
              : "Is this the right file?");
  return bias.values;
}

}  // namespace

SpinModel Rbm::read(const Settings& s) {
  require(!s.weights.empty(), ExitStatus::usage, "rbm: no weights", "weights is not set",
          "Give a .npy or CSV file, a row for each hidden unit: --weights FILE?");
  const Matrix w = read_matrix(s.weights);
  const auto visible_bias = read_bias(s.visible_bias, "visible", w.columns, w);
  const auto hidden_bias = read_bias(s.hidden_bias, "hidden", w.rows, w);
  SpinModel m = from(static_cast<Index>(w.columns), static_cast<Index>(w.rows), w.values, visible_bias, hidden_bias);
  finish(m, s);
  return m;
}

SpinModel Rbm::from(Index visible, Index hidden, const std::vector<double>& weights,
                    const std::vector<double>& visible_bias, const std::vector<double>& hidden_bias) {
  SpinModel m;
  m.target = "rbm";
  m.shape = {visible + hidden};
  m.expert = "rbm";
  const auto nv = static_cast<std::size_t>(visible), nh = static_cast<std::size_t>(hidden);
  m.layers = LayersOfSpins{visible, hidden, std::vector<double>(nv * nh)};
  m.field.assign(nv + nh, 0);
  m.reference.assign(nv + nh, -1);
  for (std::size_t v = 0; v < nv; ++v) {
    m.field[v] += visible_bias[v] / 2;
    m.offset -= visible_bias[v] / 2;
  }
  for (std::size_t h = 0; h < nh; ++h) {
    m.field[nv + h] += hidden_bias[h] / 2;
    m.offset -= hidden_bias[h] / 2;
    for (std::size_t v = 0; v < nv; ++v) {
      const double quarter = weights[h * nv + v] / 4;
      m.layers->coupling[v * nh + h] = quarter;
      m.field[v] += quarter;
      m.field[nv + h] += quarter;
      m.offset -= quarter;
    }
  }
  return m;
}

}  // namespace kilochain::discrete
