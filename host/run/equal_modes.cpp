#include "host/run/equal_modes.hpp"

#include <algorithm>

#include "host/learn/learnt_coordinates.hpp"
#include "host/run/find_symmetries.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {

template <class Real>
std::vector<double> climb_in_one_place(const Phases<Real>& run, std::vector<Real> starts, std::vector<Real>& x,
                                       Climbed<Real>& way, std::int64_t& gradients) {
  if (!run.coordinates || run.stop) return {};
  TargetGradients<Real> gradients_at(run);
  Symmetries found = find_symmetries<Real>(run.target.info(), std::ref(gradients_at), starts, x, gradients);
  if (!found.any()) return {};
  const auto n = static_cast<std::size_t>(run.dim());
  std::vector<double> end(n), start(n);
  for (std::size_t k = 0; k + n <= x.size(); k += n) {
    std::copy_n(x.data() + k, n, end.data()), std::copy_n(starts.data() + k, n, start.data());
    for (const Swap* const swap : found.gather(end.data())) found.apply(*swap, start.data());
    std::transform(start.begin(), start.end(), starts.data() + k, [](double v) { return static_cast<Real>(v); });
  }
  std::vector<double> numbers = found.to_numbers();
  run.coordinates->set(std::move(found));
  x = std::move(starts);
  constexpr int most = 3;  // a climb may lead back to another mode
  for (int tries = 0; tries < most && !run.stop; ++tries) {
    way = climb<Real>(std::ref(gradients_at), x, run.dim(), run.stop);
    gradients += way.gradients;
    if (tries + 1 == most || !run.coordinates->gather(x)) break;
  }
  return numbers;
}

template <class Real>
std::vector<double> gather_in_one_place(const Phases<Real>& run, std::vector<std::vector<Real>>& points,
                                        std::int64_t& gradients) {
  if (!run.coordinates) return {};
  TargetInCoordinates<Real>& target = *run.coordinates;
  if (!target.symmetries().any()) {
    std::vector<Real> x;
    for (const auto& of_one : points) x.insert(x.end(), of_one.begin(), of_one.begin() + run.dim());
    target.to_target(x);
    LearntCoordinates in_use = target.coordinates();
    target.set(LearntCoordinates{});
    TargetGradients<Real> gradients_at(run);
    target.set(find_symmetries<Real>(target.info(), std::ref(gradients_at), x, x, gradients));
    target.set(std::move(in_use));
  }
  for (auto& of_one : points) target.gather(of_one);
  return target.symmetries().to_numbers();
}

template std::vector<double> gather_in_one_place(const Phases<float>&, std::vector<std::vector<float>>&, std::int64_t&);
template std::vector<double> gather_in_one_place(const Phases<double>&, std::vector<std::vector<double>>&,
                                                 std::int64_t&);
template std::vector<double> climb_in_one_place(const Phases<float>&, std::vector<float>, std::vector<float>&,
                                                Climbed<float>&, std::int64_t&);
template std::vector<double> climb_in_one_place(const Phases<double>&, std::vector<double>, std::vector<double>&,
                                                Climbed<double>&, std::int64_t&);

}  // namespace kilochain
