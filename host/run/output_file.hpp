// The file of a run, if it has one. The disk works while the next window is sampled.
#pragma once
#include <future>
#include <memory>

#include "host/chains/window.hpp"
#include "host/run/estimate.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {

class DrawsWriter;  // host/draws/draws_file.hpp, which brings JSON along
struct DrawsHeader;

class OutputFile {
 public:
  /// Creates the file, as long as the run may become. Throws Error (usage) when it cannot be written. Of a run that is
  /// resumed it waits for resume.
  OutputFile(const Options& options, const TargetInfo& info, Precision precision);
  ~OutputFile();

  bool is_open() const { return writer_ != nullptr; }
  /// Creates it anew once an automatic length is known: chunks fit the number of draws.
  void set_length(std::int64_t num_warmup, std::int64_t num_samples);
  /// Creates it in place of that of a run that was stopped in its warm-up, with the state of that.
  void begin_again(const std::vector<char>& state);
  /// Opens the file behind its first draws. Throws Error (usage) when it cannot be written, (data) when its draws have
  /// other names.
  void resume(std::int64_t draws);
  template <class Real>
  void append_warmup_stats(const Window<Real>& window);
  template <class Real>
  void write_last_of_warmup(const Window<Real>& window, const std::vector<std::int64_t>& iterations,
                            const LastOfWarmup& which);
  /// Begins to write draws; the window must stay as it is until the next call of append or wait.
  template <class Real>
  void append(const Window<Real>& window);
  /// Until the disk has what it was given; throws Error (output) when it could not take it.
  void wait() {
    if (pending_.valid()) pending_.get();
  }
  /// The same, and what is wrong is lost.
  void wait_quietly() const {
    if (pending_.valid()) pending_.wait();
  }
  /// False when there is no room for it on the disk.
  bool save_state(const std::vector<char>& bytes);
  /// The coordinate `superchain` of each chain, and how many there are.
  void put_superchains(std::int64_t superchains);
  void add_attributes(const nlohmann::json& attributes);
  /// Of a run that keeps moments only. acceptance: mean of each chain.
  void write_summary(const std::vector<ParameterSummary>& parameters, const std::vector<double>& acceptance);
  void close();

 private:
  void create();
  void require_same_names(const DrawsHeader& header) const;
  void create(std::int64_t num_warmup, std::int64_t num_samples);

  const Options& options_;
  const TargetInfo& info_;
  Precision precision_;
  std::unique_ptr<DrawsWriter> writer_;
  std::future<void> pending_;  ///< the window that is on its way to the disk
};

/// The disk works on while the next window is drawn.
template <class Real>
class FileSink final : public Sink<Real> {
 public:
  explicit FileSink(OutputFile& file) : file_(file) {}
  ~FileSink() override { file_.wait_quietly(); }  // it may still read a window when an error ends the phase
  void take(const Window<Real>& window) override { file_.append(window); }

 private:
  OutputFile& file_;
};

}  // namespace kilochain
