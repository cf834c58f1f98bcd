#include "host/run/target_gradients.hpp"

#include <algorithm>
#include <cmath>

namespace kilochain {

template <class Real>
std::vector<Real> TargetGradients<Real>::operator()(const std::vector<Real>& points, std::vector<double>* lp) {
  const Index count = static_cast<Index>(std::ssize(points) / run_.dim());
  if (lp) lp->assign(static_cast<std::size_t>(count), NAN);
  if (count == 0) return {};
  if (count != count_) {
    rounds_.reset(), chains_.reset();
    chains_ =
        make_chains<Real>(run_.context, ensemble_sampler, {{"mass", "unit"}}, count, target_.info(), Scope::pooled);
    rounds_ = std::make_unique<Rounds<Real>>(run_.context, target_, *chains_, count);
    count_ = count;
  }
  rounds_->start(points);
  std::vector<Real> out = chains_->gradients();
  if (lp) copy_to_host(run_.context, lp->data(), chains_->exchange(Phase::start).lp, lp->size() * sizeof(double));
  for (Index k = 0; const ChainControl& c : chains_->controls()) {
    if (c.status != ChainStatus::running) {
      std::fill_n(out.begin() + k * run_.dim(), run_.dim(), Real(NAN));
      if (lp) (*lp)[static_cast<std::size_t>(k)] = NAN;
    }
    ++k;
  }
  return out;
}

template class TargetGradients<float>;
template class TargetGradients<double>;

}  // namespace kilochain
