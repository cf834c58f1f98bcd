#include "host/run/climb_in_one_place.hpp"

#include <algorithm>

#include "host/run/find_symmetries.hpp"
#include "host/run/target_gradients.hpp"

namespace kilochain {

template <class Real>
std::vector<double> climb_in_one_place(const Phases<Real>& run, std::vector<Real> starts, std::vector<Real>& x,
                                       Climbed<Real>& way, std::int64_t& gradients) {
  if (!run.coordinates || run.stop) return {};
  TargetGradients<Real> gradients_at(run);
  Symmetries found = find_symmetries<Real>(run.target.info(), std::ref(gradients_at), starts, x, way.lp, gradients);
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
  do {
    way = climb<Real>(std::ref(gradients_at), x, run.dim(), run.stop);
    gradients += way.gradients;
  } while (!run.stop && run.coordinates->gather(x));
  return numbers;
}

template std::vector<double> climb_in_one_place(const Phases<float>&, std::vector<float>, std::vector<float>&,
                                                Climbed<float>&, std::int64_t&);
template std::vector<double> climb_in_one_place(const Phases<double>&, std::vector<double>, std::vector<double>&,
                                                Climbed<double>&, std::int64_t&);

}  // namespace kilochain
