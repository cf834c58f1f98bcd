// A density that is a C function of device pointers. Of a round's chains those that ask are brought together, as rows
// of n doubles; one call answers for all; each chain gets its answer. Such calls are not captured in graphs: what they
// do besides queueing is theirs.
// Cost: beside the call, the points and the gradients of those chains are read and written once.
#include "targets/asking.cuh"
#include "targets/external/call_watch.hpp"
#include "targets/external/functions.hpp"
#include "targets/external/rejections.hpp"

namespace kilochain {
namespace cuda {
namespace {

/// A block a column. The host does not know how many ask: those that are left over repeat the first chain's point.
template <class Real>
__global__ void __launch_bounds__(max_block, 1)
    gather_for_function(const __grid_constant__ Columns of, const __grid_constant__ Exchange<Real> exchange, Index n,
                        double* __restrict__ x) {
  const Index chain = of.chain(here::block());
  const Query<Real> query = exchange.query(chain < 0 ? of.chains[0] : chain);
  double* const to = x + static_cast<std::size_t>(n) * blockIdx.x;
  for (Index j = here::thread(); j < n; j += here::threads()) to[j] = query.point[j];
}

template <class Real>
__global__ void __launch_bounds__(max_block, 1)
    take_answers(const __grid_constant__ Columns of, const __grid_constant__ Exchange<Real> exchange, Index n,
                 const double* __restrict__ lp, const double* __restrict__ gradient, bool rejected) {
  const Index chain = of.chain(here::block());
  if (chain < 0) return;
  const Reply<Real> reply = exchange.reply(chain);
  if (here::thread() == 0) *reply.lp = rejected ? -std::numeric_limits<double>::infinity() : lp[blockIdx.x];
  if (exchange.needs[chain] == Needs::value) return;
  const double* const from = gradient + static_cast<std::size_t>(n) * blockIdx.x;
  for (Index j = here::thread(); j < n; j += here::threads())
    reply.gradient[j] = rejected ? Real(0) : static_cast<Real>(from[j]);
}

template <class Real>
class FunctionOnDevice final : public Target<Real> {
 public:
  FunctionOnDevice(const Context& context, const FunctionDensity& f, TargetInfo info)
      : context_(context), f_(f), asking_(context), watch_("a call of the density on the device", f.call_seconds) {
    this->info_ = std::move(info);
    this->info_.notes = [this] { return rejections_.notes("calls were rejected as a whole"); };
    this->info_.scratch_bytes = [n = f.dim](Index chains) {
      return static_cast<std::size_t>(chains) * static_cast<std::size_t>(2 * n + 1) * sizeof(double) +
             AskingChains::bytes(chains);
    };
  }
  bool can_be_captured() const override { return false; }
  std::string evaluation() const override { return "all chains in one call, on the device"; }

  void evaluate(const Exchange<Real>& exchange, Index first, Index last) override {
    const Index most = std::min(last - first, exchange.asking);
    asking_.select(exchange, first, last, most);
    const Columns of = asking_.columns(0);
    const std::size_t columns = static_cast<std::size_t>(most), n = static_cast<std::size_t>(f_.dim);
    for (Buffer<double>* buffer : {&x_, &gradient_})
      if (buffer->size() < columns * n) *buffer = Buffer<double>(context_, columns * n);
    if (lp_.size() < columns) lp_ = Buffer<double>(context_, columns);
    const dim3 blocks(static_cast<unsigned>(most));
    launch(context_, gather_for_function<Real>, blocks, max_block, of, exchange, f_.dim, x_.data());
    const bool answered = call(columns, n);
    launch(context_, take_answers<Real>, blocks, max_block, of, exchange, f_.dim,
           static_cast<const double*>(lp_.data()), static_cast<const double*>(gradient_.data()), !answered);
  }

 private:
  bool call(std::size_t chains, std::size_t n) {
    const CallWatch::Calls call(watch_);
    const int status =
        f_.on_device(chains, n, x_.data(), n, gradient_.data(), lp_.data(), context_.stream, f_.user_data);
    if (status != 0) rejections_.add("it returned " + std::to_string(status));
    return status == 0;
  }

  Context context_;
  FunctionDensity f_;
  AskingChains asking_;
  Buffer<double> x_, gradient_, lp_;  ///< of the chains that ask, side by side
  Rejections rejections_;
  CallWatch watch_;
};

}  // namespace
}  // namespace cuda

template <class Real>
std::unique_ptr<Target<Real>> function_target_on_device(const Context& context, const FunctionDensity& density,
                                                        TargetInfo info) {
  return std::make_unique<cuda::FunctionOnDevice<Real>>(context, density, std::move(info));
}
template std::unique_ptr<Target<float>> function_target_on_device(const Context&, const FunctionDensity&, TargetInfo);
template std::unique_ptr<Target<double>> function_target_on_device(const Context&, const FunctionDensity&, TargetInfo);

}  // namespace kilochain
