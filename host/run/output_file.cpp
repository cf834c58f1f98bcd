#include "host/run/output_file.hpp"

#include <functional>
#include <numeric>

#include "host/draws/draws_file.hpp"

namespace kilochain {

OutputFile::OutputFile(const Options& options, const TargetInfo& info, Precision precision)
    : options_(options), info_(info), precision_(precision) {
  if (writes_file(options) && !options.resume) create();
}

void OutputFile::create() {
  create(options_.num_warmup.value_or(0), options_.num_samples.value_or(most_automatic_samples));
}

OutputFile::~OutputFile() { wait_quietly(); }

void OutputFile::set_length(std::int64_t num_warmup, std::int64_t num_samples) {
  if (writer_) create(num_warmup, num_samples);
}

void OutputFile::begin_again(const std::vector<char>& state) {
  require_same_names(DrawsReader(options_.output).header());
  create();
  save_state(state);
}

void OutputFile::resume(std::int64_t draws) {
  writer_ = std::make_unique<DrawsWriter>(options_.output, draws);
  require_same_names(writer_->header());
}

void OutputFile::require_same_names(const DrawsHeader& header) const {
  require(header.names == info_.names, ExitStatus::data,
          options_.output + ": the target is not the one that the draws are of",
          std::to_string(info_.names.size()) + " values of each draw beside " + std::to_string(header.names.size()) +
              " in the file, or with other names",
          "Have its data or its code changed since?");
}

bool OutputFile::save_state(const std::vector<char>& bytes) {
  wait();
  return writer_->save_state(bytes);
}

void OutputFile::create(std::int64_t num_warmup, std::int64_t num_samples) {
  DrawsHeader h;
  h.target = options_.target;
  h.sampler = options_.sampler;
  h.num_chains = options_.num_chains;
  h.num_warmup = num_warmup;
  h.num_samples = num_samples;
  h.thin = options_.thin;
  h.seed = options_.seed;
  h.real = precision_;
  h.variable = info_.variable;
  h.names = info_.names;
  h.prior = info_.is_prior;
  for (const Variable& v : info_.variables) {
    if (v.group != draws_group(h)) h.groups[v.name] = v.group;
    h.variables.emplace_back(
        v.name,
        v.shape.empty() ? 0 : std::accumulate(v.shape.begin(), v.shape.end(), std::int64_t{1}, std::multiplies()));
  }
  if (kept_spins(options_, info_) > 0) h.spins.assign(info_.spins.begin(), info_.spins.end());
  h.config = to_json(options_);
  h.inputs = options_.inputs;
  h.stats = find_sampler(options_.sampler).stats;
  h.save_warmup_stats = options_.save_warmup;
  h.kept = options_.draws;
  const std::int64_t stored =
      std::ssize(info_.names) + kept_spins(options_, info_) / static_cast<std::int64_t>(bytes_of(precision_));
  h.draws_per_append = window_draws(options_.num_chains, stored, num_samples / options_.thin, precision_);
  writer_.reset();
  writer_ = std::make_unique<DrawsWriter>(options_.output, std::move(h), options_.overwrite);
  for (const Constant& c : info_.constants) {
    std::vector<std::pair<std::string, std::int64_t>> dims;
    for (std::size_t k = 0; k < c.dims.size(); ++k) dims.emplace_back(c.dims[k], c.shape[k]);
    writer_->add_constant_data(c.name, dims, c.values, c.group);
  }
}

void OutputFile::add_attributes(const nlohmann::json& attributes) {
  if (writer_) writer_->add_attributes(attributes);
}

void OutputFile::put_superchains(std::int64_t superchains) {
  if (!writer_ || superchains < 2) return;
  nlohmann::json attributes = {{"superchains", superchains}};
  if (stores_draws(options_)) {
    std::vector<double> of_chain;
    for (std::int64_t c = 0; c < options_.num_chains; ++c) of_chain.push_back(static_cast<double>(c % superchains));
    writer_->add_constant_data("superchain", {{"chain", options_.num_chains}}, of_chain,
                               draws_group(writer_->header()));
    attributes["coordinates"] = "superchain";  // as xarray has it
  }
  writer_->add_attributes(attributes);
}

void OutputFile::write_summary(const std::vector<ParameterSummary>& parameters, const std::vector<double>& acceptance) {
  if (writer_ && !stores_draws(options_)) writer_->write_summary(parameters, acceptance);
}

void OutputFile::close() {
  wait();
  if (writer_) writer_->finish();
  writer_.reset();
}

template <class Real>
void OutputFile::append_warmup_stats(const Window<Real>& window) {
  writer_->append_warmup_stats(window);
}

template <class Real>
void OutputFile::write_last_of_warmup(const Window<Real>& window, const std::vector<std::int64_t>& iterations,
                                      const LastOfWarmup& which) {
  if (writer_ && stores_draws(options_)) writer_->write_last_of_warmup(window, iterations, which);
}

template <class Real>
void OutputFile::append(const Window<Real>& window) {
  wait();
  pending_ = std::async(std::launch::async, [this, window] { writer_->append(window); });
}

template void OutputFile::append_warmup_stats(const Window<float>&);
template void OutputFile::append_warmup_stats(const Window<double>&);
template void OutputFile::write_last_of_warmup(const Window<float>&, const std::vector<std::int64_t>&,
                                               const LastOfWarmup&);
template void OutputFile::write_last_of_warmup(const Window<double>&, const std::vector<std::int64_t>&,
                                               const LastOfWarmup&);
template void OutputFile::append(const Window<float>&);
template void OutputFile::append(const Window<double>&);

}  // namespace kilochain
