// Draws on disk: NetCDF-4 in the schema of ArviZ's InferenceData (dimensions chain, draw, <variable>_dim).
// Groups: posterior (of spin models int8 `spins` too, in the model's shape), sample_stats (lp, acceptance_rate,
// diverging, the sampler's own; divergence_chain, _draw, _point for the divergences whose points are kept),
// warmup_sample_stats when asked, warmup_posterior (draws_warmup.cpp), constant_data; or, when only moments are kept,
// summary (a variable per figure, and acceptance_rate of each chain). Of a prior: prior, sample_stats_prior in place of
// the first two. Attributes of the root and of posterior: header, configuration, timings. Root variable draws_written:
// the draws per chain that are complete; run_state_0 and _1: the state of the run, to resume it, written in turn, so
// that one of them is whole at any time. What readers do not know does not change the format, 1. Promise: after append
// returns, a killed process leaves these draws readable, whatever it was writing (journal.hpp); a full disk is found
// before the library is asked to write. Bytes that changed since are found by their checksums, but for a power cut.
// Cost: one pass over the window and the disk's own speed; memory of one chunk. One thread at a time for
// each file. Why these chunks: docs/decisions/0003-draws-on-disk.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/inputs.hpp"
#include "host/chains/window.hpp"
#include "host/draws/disk_space.hpp"
#include "host/statistics/summary.hpp"

namespace kilochain {

/// What a run is, known before its first draw.
struct DrawsHeader {
  std::string target;
  std::string sampler;
  std::int64_t num_chains = 0;
  std::int64_t num_warmup = 0;
  std::int64_t num_samples = 0;
  std::int64_t thin = 1;
  std::uint64_t seed = 0;
  Precision real = Precision::double_precision;  ///< of the stored draws
  std::string variable = "x";                    ///< name of the posterior variable, where `variables` is empty
  std::vector<std::pair<std::string, std::int64_t>>
      variables;                              ///< names and sizes (0: a number); the names divide into them
  std::map<std::string, std::string> groups;  ///< of variables that are not of the posterior, behind which they stand
  std::vector<std::string> names;             ///< label of each recorded value; their number is the dimension
  std::vector<std::int64_t> spins;            ///< shape of the int8 variable `spins` beside the draws; empty: none
  nlohmann::json config;                      ///< whole configuration: becomes attributes
  std::optional<std::vector<Input>> inputs;   ///< what was read before the run; empty: not known
  std::vector<std::string> stats;             ///< float statistics beside lp, acceptance_rate, diverging
  bool prior = false;                         ///< groups prior, sample_stats_prior: posterior, sample_stats otherwise
  bool save_warmup_stats = false;             ///< make the group warmup_sample_stats
  KeptDraws kept = KeptDraws::all;            ///< moments: no posterior and sample_stats, a summary instead
  std::int64_t draws_per_append = 100;  ///< expected; chunks fit it, so that each is written once. Any other works
};

/// Shape of the chunks of a [chain][draw][parameter] variable.
struct ChunkShape {
  std::int64_t chains, draws, parameters;
  std::int64_t elements() const { return chains * draws * parameters; }
};

/// One posterior variable: parameters first .. first + size - 1.
struct DrawsVariable {
  std::string name;
  bool scalar;
  std::int64_t first, size;
  int id = -1;
  ChunkShape chunk{1, 1, 1};
  std::string group = "posterior";
  int in = -1;  ///< the group's id
};
/// The group of what is sampled.
inline std::string draws_group(const DrawsHeader& header) { return header.prior ? "prior" : "posterior"; }
inline std::string stats_group(const DrawsHeader& header) {
  return header.prior ? "sample_stats_prior" : "sample_stats";
}
/// Values of a draw that are summarised: those of the posterior.
std::int64_t posterior_values(const DrawsHeader& header);
/// The header's variables; one of all names where it lists none.
std::vector<DrawsVariable> variables_of(const DrawsHeader& header);

class Journal;  // host/draws/journal.hpp

/// Writes one file while a run is sampling. After an Error of append the writer still takes attributes and finish().
class DrawsWriter {
 public:
  /// Creates the file, under another name until it is whole; it takes the place of one without draws, or with
  /// `overwrite` of any that holds draws. Error(usage), and the file that is there stays as it is, when the path cannot
  /// be written, another program has it open, draws are in it, or the header is wrong; (output) when there is no room.
  DrawsWriter(std::string path, DrawsHeader header, bool overwrite = false);
  /// Opens a file of another writer, to append after its first `draws_written` draws; what lies behind them is written
  /// over. Error: (data) not readable, (usage) not writable or with fewer draws, (output) when it cannot grow.
  DrawsWriter(std::string path, std::int64_t draws_written);
  ~DrawsWriter();  ///< closes what finish() has not; errors are lost
  DrawsWriter(const DrawsWriter&) = delete;
  DrawsWriter& operator=(const DrawsWriter&) = delete;

  /// Adds the window's draws; its first one must be number draws_written(). Error(output) when they do not fit on the
  /// disk, saying how many draws are safely in the file.
  template <class Real>  // float or double, the header's
  void append(const Window<Real>& window);
  /// The same for the statistics of warm-up iterations (no draws); needs header.save_warmup_stats.
  template <class Real>
  void append_warmup_stats(const Window<Real>& window);
  /// The last draws of a warm-up that was stopped, with these iterations, (draw): groups warmup_posterior and, where
  /// warm-up statistics were not asked for, warmup_sample_stats with lp and acceptance_rate. Once.
  template <class Real>
  void write_last_of_warmup(const Window<Real>& window, const std::vector<std::int64_t>& iterations,
                            const LastOfWarmup& which);
  /// Adds a variable of group constant_data, or another of what is the same in every draw,
  /// row-major over `dims` (name and size; a name keeps its size).
  void add_constant_data(const std::string& name, const std::vector<std::pair<std::string, std::int64_t>>& dims,
                         const std::vector<double>& values, const std::string& group = "constant_data");
  /// Adds what a run that kept moments only leaves: a variable for each of summary_columns over the parameters, and the
  /// mean acceptance probability of each chain while sampling, NaN where there is none.
  void write_summary(const std::vector<ParameterSummary>& parameters, const std::vector<double>& acceptance_rates);
  /// Saves the state of the run; the one before is kept until this one is complete. False when the disk is full.
  bool save_state(const std::vector<char>& bytes);
  /// Adds or replaces attributes, for example {"sampling_time": 12.5, "quarantined": [3, 17]}.
  void add_attributes(const nlohmann::json& attributes);
  /// Closes the file, and is done; Error(output) when that fails, or when the path leads to another file by now.
  void finish();

  const DrawsHeader& header() const { return header_; }
  std::int64_t draws_written() const { return written_; }

 private:
  struct StatsGroup {
    int group = -1, draw = -1, lp = -1, acceptance_rate = -1, diverging = -1;
    std::vector<int> stats;
    ChunkShape chunk{1, 1, 1};
    std::int64_t written = 0;
  };

  void define();
  void find();
  int close();
  void define_posterior();
  void define_variable(DrawsVariable& v, int group, int dims[3]);
  void define_spins(const int* chain_and_draw);
  StatsGroup define_stats(const std::string& name);
  int define_chain_and_draw(int group, int dims[2], std::int64_t num_chains);
  void require_there() const;
  void reserve(std::int64_t bytes, std::int64_t first_draw, std::int64_t count);
  void reserve_at(const std::string& place, std::int64_t bytes, std::int64_t first_draw, std::int64_t count) const;
  template <class Real>
  void put_draws(const Window<Real>& window);
  template <class Real>
  void put_stats(StatsGroup& group, const Window<Real>& window);
  void put_spins(std::int64_t first_draw, std::int64_t count, View3<const std::int8_t> spins);
  void put_divergences(const std::vector<Divergence>& divergences);
  void put_draw_index(int group, int variable, std::int64_t first_draw, std::int64_t count);
  template <class Body>
  void guarded(const std::string& what, Body body);

  std::string path_;
  FileIdentity identity_;
  DrawsHeader header_;
  std::vector<DrawsVariable> variables_;
  int file_ = -1, posterior_ = -1, draw_ = -1, written_variable_ = -1, spins_ = -1;
  struct Apart {
    int group = -1, draw = -1, dims[3];
  };
  std::map<std::string, Apart> apart_;  ///< groups of draws beside the posterior
  StatsGroup sample_stats_, warmup_stats_;
  struct StateVariables {
    int bytes[2] = {-1, -1}, size[2] = {-1, -1}, latest = -1;
    int now = -1;  ///< which of the two is the latest; -1: there is none
  } state_;
  struct DivergenceVariables {
    int chain = -1, draw = -1, point = -1;
    std::size_t written = 0;
  } divergence_;
  std::vector<std::byte> scratch_;  // one chunk
  std::int64_t written_ = 0;
  std::int64_t on_disk_ = 0;  ///< more than written_ while draws that are there already are made again
  bool lost_ = false;         // the library itself failed: the file is as of the last append
  std::unique_ptr<Journal> journal_;
};

/// Reads such a file, also that of a run that was killed.
class DrawsReader {
 public:
  enum Wish { draws, or_last_of_warmup };
  /// or_last_of_warmup: where the file has no draws, but the last ones of a warm-up, those are read in their place, and
  /// the header is theirs. Error(data) when the file is missing or was not written by DrawsWriter.
  explicit DrawsReader(std::string path, Wish wish = draws);
  ~DrawsReader();
  DrawsReader(const DrawsReader&) = delete;
  DrawsReader& operator=(const DrawsReader&) = delete;

  const std::string& path() const { return path_; }
  const DrawsHeader& header() const { return header_; }
  /// Attributes of the run, with those added at the end (timings, quarantined chains).
  const nlohmann::json& attributes() const { return attributes_; }
  bool has_draws() const { return posterior_ >= 0; }
  const std::optional<LastOfWarmup>& last_of_warmup() const { return last_of_warmup_; }  ///< empty: draws are draws
  bool has_summary() const { return summary_ >= 0; }
  /// Whether the header lists the statistic.
  bool has_stat(const std::string& name) const;
  std::int64_t draws_written() const { return written_; }

  /// The most parameters whose draws fit in `bytes` as double, in whole chunks where possible (so that groups of this
  /// size read the file once), at least 1.
  std::int64_t parameters_within(std::int64_t bytes) const;
  /// Draws of parameters first .. first + count - 1 as out[parameter][chain][draw].
  void read_parameters(std::int64_t first, std::int64_t count, std::vector<double>& out) const;
  std::vector<double> lp() const;  ///< [chain][draw]
  std::vector<float> stat(
      const std::string&) const;  ///< [chain][draw] of acceptance_rate, diverging or one of header().stats
  /// [chain], over its draws, NaN for a chain without any; of moments the stored ones, empty where a file has none.
  std::vector<double> mean_acceptance_rate() const;
  std::vector<std::int64_t> num_diverging() const;     ///< [chain]
  std::vector<Divergence> divergences() const;         ///< those whose points are in the file, by draw
  std::vector<std::int64_t> quarantined() const;       ///< attribute "quarantined": chain numbers, as written
  std::vector<char> state() const;                     ///< what save_state() has kept last; empty: nothing
  std::vector<ParameterSummary> read_summary() const;  ///< of moments; columns that a file does not have are NaN

 private:
  void open(Wish wish);
  void take_last_of_warmup();
  void read_header();
  void require_whole(bool is_whole, const std::string& otherwise) const;
  template <class Value>
  std::vector<Value> sample_stat(const std::string& name) const;
  template <class Body>
  auto guarded(const std::string& what, Body body) const -> decltype(body());

  std::string path_;
  DrawsHeader header_;
  nlohmann::json attributes_;
  std::vector<DrawsVariable> variables_;
  int file_ = -1, posterior_ = -1, sample_stats_ = -1, summary_ = -1;
  std::int64_t written_ = 0;
  std::optional<LastOfWarmup> last_of_warmup_;
  std::vector<long long> iterations_;  ///< of those draws
};

}  // namespace kilochain
