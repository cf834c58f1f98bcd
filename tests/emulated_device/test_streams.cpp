// Streams, events, captures and copies of the emulated device: late, in order, and refusing what CUDA refuses.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "kernels/device/context.hpp"
#include "tests/emulated_device/emulated.hpp"
#include "tests/emulated_device/faulty.hpp"

namespace kilochain {
namespace {

constexpr std::size_t bytes = 4 * sizeof(float);

class EmulatedStreams : public testing::Test {
 protected:
  void SetUp() override {
    emulated::forget_faults();
    emulated::set_seed(0);  // nothing runs but what is waited for
    before_ = emulated::living();
    for (auto& s : stream) ASSERT_EQ(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&device, bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&from, bytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&to, bytes), cudaSuccess);
    ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
    from[0] = 1, from[1] = from[2] = from[3] = 0;
    to[0] = 5;
  }
  void TearDown() override {
    for (auto& s : stream) cudaStreamDestroy(s);
    cudaFree(device), cudaFreeHost(from), cudaFreeHost(to), cudaEventDestroy(event);
    EXPECT_EQ(emulated::living(), before_) << emulated::text(emulated::living());
    emulated::set_seed(1);
  }
  cudaError_t up(cudaStream_t s) { return cudaMemcpyAsync(device, from, bytes, cudaMemcpyHostToDevice, s); }
  cudaError_t down(cudaStream_t s) { return cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, s); }

  cudaStream_t stream[2];
  float *device, *from, *to;
  cudaEvent_t event;

 private:
  emulated::Living before_;
};

TEST_F(EmulatedStreams, NewMemoryIsNan) {
  down(stream[0]);
  cudaStreamSynchronize(stream[0]);
  EXPECT_TRUE(std::isnan(to[0]));
}
TEST_F(EmulatedStreams, PinnedBytesAreTakenWhenTheCopyRuns) {
  up(stream[0]), down(stream[0]);
  EXPECT_TRUE(std::isnan(to[0])) << "a target that nobody waited for";
  from[0] = 2;  // too early: the copy is still to come
  cudaStreamSynchronize(stream[0]);
  EXPECT_EQ(to[0], 2);
}
TEST_F(EmulatedStreams, PageableBytesAreTakenAtTheCall) {
  float pageable[4] = {1, 2, 3, 4};
  cudaMemcpyAsync(device, pageable, bytes, cudaMemcpyHostToDevice, stream[0]);
  pageable[0] = 9;
  const auto before = emulated::counters();
  cudaMemcpyAsync(pageable, device, bytes, cudaMemcpyDeviceToHost, stream[0]);  // waits
  EXPECT_EQ(pageable[0], 1);
  EXPECT_EQ(emulated::counters().synchronisations - before.synchronisations, 1);
}
TEST_F(EmulatedStreams, OnlyEventsOrderStreams) {
  emulated::collect_races(true);
  up(stream[0]);
  cudaEventRecord(event, stream[0]);
  down(stream[1]);
  cudaStreamSynchronize(stream[1]);
  EXPECT_TRUE(std::isnan(to[0])) << "the second stream did not wait";
  cudaStreamWaitEvent(stream[1], event);
  down(stream[1]);
  cudaStreamSynchronize(stream[1]);
  EXPECT_EQ(to[0], 1);
  emulated::collect_races(false);
}
TEST_F(EmulatedStreams, AMutantForgetsAnEvent) {
  up(stream[0]);
  cudaEventRecord(event, stream[0]);
  emulated::collect_races(true);
  emulated::plant(emulated::Mutant::event_wait, 1);
  cudaStreamWaitEvent(stream[1], event);
  down(stream[1]);
  cudaStreamSynchronize(stream[1]);
  EXPECT_TRUE(std::isnan(to[0]));
  emulated::collect_races(false);
}
// In whatever order the streams happen to run: also in one that gives the right bytes.
TEST_F(EmulatedStreams, TwoStreamsThatNothingOrdersAreARace) {
  for (const bool first : {false, true})
    for (const int order : {0, 1, 2, 3}) {  // nothing, an event, the host, an event of before
      emulated::forget_faults();
      cudaStreamSynchronize(stream[0]), cudaStreamSynchronize(stream[1]);
      if (order == 3) cudaEventRecord(event, stream[0]);
      up(stream[0]);
      if (order == 1) cudaEventRecord(event, stream[0]);
      if (order == 2) cudaStreamSynchronize(stream[0]);
      if (order == 1 || order == 3) cudaStreamWaitEvent(stream[1], event);
      down(stream[1]);
      cudaStreamSynchronize(stream[first]), cudaStreamSynchronize(stream[1 - first]);
      EXPECT_EQ(emulated::faults().empty(), order == 1 || order == 2) << order << ", " << first;
    }
  emulated::forget_faults();
}
// Two streams read, and the second of them writes: the first may read still.
TEST_F(EmulatedStreams, AReadInAnotherStreamIsNotForgottenBehindAnother) {
  up(stream[0]);
  cudaStreamSynchronize(stream[0]);
  for (const bool waits : {true, false}) {
    down(stream[0]);
    cudaEventRecord(event, stream[0]);
    cudaMemcpyAsync(to + 1, device, sizeof(float), cudaMemcpyDeviceToHost, stream[1]);
    if (waits) cudaStreamWaitEvent(stream[1], event);
    up(stream[1]);
    cudaStreamSynchronize(stream[0]), cudaStreamSynchronize(stream[1]);
    EXPECT_EQ(emulated::faults().empty(), waits);
  }
  emulated::forget_faults();
}
TEST_F(EmulatedStreams, AnEventIsAsOfItsRecord) {
  up(stream[0]);
  cudaEventRecord(event, stream[0]);
  cudaMemsetAsync(device, 0, bytes, stream[0]);
  cudaStreamWaitEvent(stream[1], event);
  down(stream[1]);
  cudaEventRecord(event, stream[1]);
  cudaEventSynchronize(event);
  EXPECT_EQ(to[0], 1) << "the memset comes after the record";
}

TEST_F(EmulatedStreams, CopiesSayTheirDirectionAndStayInside) {
  EXPECT_EQ(cudaMemcpyAsync(device, from, bytes, cudaMemcpyDeviceToHost, stream[0]), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyAsync(device, from, bytes + 4, cudaMemcpyHostToDevice, stream[0]), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(device + 1, 0, bytes, stream[0]), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemsetAsync(from, 0, bytes, stream[0]), cudaErrorInvalidValue);
}

TEST_F(EmulatedStreams, ACaptureRunsNothingAndAGraphKeepsItsArguments) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), cudaSuccess);
  int value = 0;
  cudaMemsetAsync(device, value, bytes, stream[0]);
  value = 1;  // a graph has the value of its capture
  ASSERT_EQ(cudaStreamEndCapture(stream[0], &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  down(stream[0]);
  cudaStreamSynchronize(stream[0]);
  EXPECT_TRUE(std::isnan(to[0]));
  cudaGraphLaunch(exec, stream[0]);
  down(stream[0]);
  cudaStreamSynchronize(stream[0]);
  EXPECT_EQ(to[0], 0);
  cudaGraphDestroy(graph), cudaGraphExecDestroy(exec);
}
TEST_F(EmulatedStreams, ACaptureRefusesWhatCudaRefuses) {
  float pageable[4] = {};
  void* more = nullptr;
  const std::vector<std::function<cudaError_t()>> forbidden = {
      [&] { return cudaMalloc(&more, 4); },
      [&] { return cudaFree(device); },
      [&] { return cudaMallocHost(&more, 4); },
      [&] { return cudaStreamSynchronize(stream[0]); },
      [&] { return cudaDeviceSynchronize(); },
      [&] { return cudaMemcpy(device, pageable, bytes, cudaMemcpyHostToDevice); },
      [&] { return cudaMemcpyAsync(device, pageable, bytes, cudaMemcpyHostToDevice, stream[0]); },
      [&] { return cudaMemcpyAsync(pageable, device, bytes, cudaMemcpyDeviceToHost, stream[0]); }};
  for (std::size_t k = 0; k < forbidden.size(); ++k) {
    ASSERT_EQ(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(forbidden[k](), cudaErrorStreamCaptureUnsupported) << "call " << k;
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream[0], &graph), cudaErrorStreamCaptureInvalidated) << "call " << k;
    EXPECT_EQ(graph, nullptr);
  }
}
TEST_F(EmulatedStreams, AForkIsJoined) {
  cudaGraph_t graph = nullptr;
  for (const bool joins : {true, false}) {
    cudaEvent_t forked = nullptr, joined = nullptr;
    cudaEventCreate(&forked), cudaEventCreate(&joined);
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal);
    cudaMemsetAsync(device, 0, bytes, stream[0]);
    cudaEventRecord(forked, stream[0]);
    cudaStreamWaitEvent(stream[1], forked);
    down(stream[1]);
    if (joins) {
      cudaEventRecord(joined, stream[1]);
      cudaStreamWaitEvent(stream[0], joined);
    }
    EXPECT_EQ(cudaStreamEndCapture(stream[0], &graph), joins ? cudaSuccess : cudaErrorStreamCaptureUnjoined);
    if (graph) cudaGraphDestroy(graph);
    cudaEventDestroy(forked), cudaEventDestroy(joined);
  }
}
TEST_F(EmulatedStreams, AnUpdateWithOtherNodesFails) {
  const auto captured = [&](int copies) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal);
    for (int k = 0; k < copies; ++k) down(stream[0]);
    cudaMemsetAsync(device, copies, bytes, stream[0]);
    cudaStreamEndCapture(stream[0], &graph);
    return graph;
  };
  cudaGraph_t one = captured(1), same = captured(1), two = captured(2);
  cudaGraphExec_t exec = nullptr;
  cudaGraphExecUpdateResultInfo info;
  ASSERT_EQ(cudaGraphInstantiate(&exec, one, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, same, &info), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, two, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  for (cudaGraph_t g : {one, same, two}) cudaGraphDestroy(g);
  cudaGraphExecDestroy(exec);
}

/// A product of 1 x 1, captured; with a workspace before or after the stream was set, or none.
TEST_F(EmulatedStreams, ACapturedProductWantsAWorkspaceOfItsOwn) {
  const float one = 1, zero = 0;
  void* workspace = nullptr;
  ASSERT_EQ(cudaMalloc(&workspace, 1024), cudaSuccess);
  for (const int set : {0, 1, 2}) {  // never, before the stream, after it
    cublasHandle_t blas;
    ASSERT_EQ(cublasCreate(&blas), CUBLAS_STATUS_SUCCESS);
    if (set == 1) cublasSetWorkspace(blas, workspace, 1024);
    cublasSetStream(blas, stream[0]);
    if (set == 2) cublasSetWorkspace(blas, workspace, 1024);
    const auto product = [&] {
      return cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, device, 1, device + 1, 1, &zero, device + 2, 1);
    };
    EXPECT_EQ(product(), CUBLAS_STATUS_SUCCESS) << "outside of captures it has one";
    ASSERT_EQ(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), cudaSuccess);
    EXPECT_EQ(product() == CUBLAS_STATUS_SUCCESS, set == 2);
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream[0], &graph);
    if (graph) cudaGraphDestroy(graph);
    cudaStreamSynchronize(stream[0]);
    cublasDestroy(blas);
  }
  cudaFree(workspace);
}
/// Pinned memory of a copy that was not waited for: the host is told of it whether the copy has run or not.
TEST_F(EmulatedStreams, PinnedMemoryOfACopyThatWasNotWaitedForIsTheCopys) {
  for (const bool frees : {false, true})
    for (const bool waits : {true, false}) {
      float* box = nullptr;
      ASSERT_EQ(cudaMallocHost(&box, bytes), cudaSuccess);
      up(stream[0]), cudaMemcpyAsync(box, device, bytes, cudaMemcpyDeviceToHost, stream[0]);
      if (waits) cudaStreamSynchronize(stream[0]);
      if (!frees) {
        touch_pinned(box);
        EXPECT_EQ(emulated::faults().empty(), waits);
        cudaStreamSynchronize(stream[0]);
      }
      cudaFreeHost(box);
      EXPECT_EQ(emulated::faults().empty(), waits);
      emulated::forget_faults();
    }
}

TEST_F(EmulatedStreams, TheCallThatIsToFailFails) {
  emulated::fail_call(2);
  EXPECT_EQ(up(stream[0]), cudaSuccess);
  EXPECT_NE(up(stream[0]), cudaSuccess);
  EXPECT_EQ(up(stream[0]), cudaSuccess);
  EXPECT_TRUE(emulated::failed());
}

}  // namespace
}  // namespace kilochain
