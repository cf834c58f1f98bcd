#include "targets/asking.cuh"

namespace kilochain::cuda {

void AskingChains::queue_selection(const Needs* needs, Index first, Index last, Index room) {
  constexpr int threads = 1024;
  launch(context_, select_asking<threads>, dim3(1), threads, needs, first, last, room, list_.data() + 1, list_.data());
}

}  // namespace kilochain::cuda
