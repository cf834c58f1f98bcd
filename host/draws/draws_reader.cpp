#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "host/draws/draws_chunks.hpp"
#include "host/draws/draws_groups.hpp"
#include "host/draws/draws_guarded.hpp"

namespace kilochain {
namespace {

using netcdf::check;
using netcdf::find_group;
using netcdf::find_variable;
using netcdf::has_variable;
using netcdf::shape_of;

std::vector<double> read_doubles(int group, int variable) {
  std::size_t size = 1;
  for (const std::int64_t extent : shape_of(group, variable)) size *= extent;
  std::vector<double> values(size);
  if (size > 0) check(nc_get_var_double(group, variable, values.data()));
  return values;
}

std::vector<std::string> read_labels(int group, const std::string& name) {
  const int variable = find_variable(group, name);
  std::vector<char*> pointers(shape_of(group, variable).at(0), nullptr);
  check(nc_get_var_string(group, variable, pointers.data()));
  std::vector<std::string> labels(pointers.begin(), pointers.end());
  nc_free_string(pointers.size(), pointers.data());
  return labels;
}

}  // namespace

DrawsReader::DrawsReader(std::string path, Wish wish) : path_(std::move(path)) {
  std::error_code ignored;
  require(std::filesystem::exists(path_, ignored), ExitStatus::data, path_ + ": no such file of draws", "missing file",
          "Is the path right?");
  require(std::filesystem::is_regular_file(path_, ignored), ExitStatus::data, path_ + ": not a file of draws",
          "not a regular file", "Is the path right?");
  require(!is_being_written(path_), ExitStatus::data, path_ + ": the file of draws cannot be read yet",
          "a run is writing it", "Wait for its end, or look at a copy of the file?");
  roll_back(followed(path_));
  try {
    guarded("the file of draws", [&] { open(wish); });
  } catch (...) {
    const auto lock = netcdf::alone();
    if (file_ >= 0) nc_close(file_);
    throw;
  }
}

DrawsReader::~DrawsReader() {
  const auto lock = netcdf::alone();
  nc_close(file_);
}

void DrawsReader::open(Wish wish) {
  check(netcdf::open(path_, NC_NOWRITE, &file_));
  attributes_ = netcdf::read_attributes(file_);
  const auto format = attributes_.find("kilochain_draws_format");
  require(format != attributes_.end() && *format == 1, ExitStatus::data, path_ + ": not draws of kilochain",
          format == attributes_.end() ? "no attribute kilochain_draws_format" : "format " + format->dump() + ", not 1",
          "Was the file made by kilochain sample of this version?");
  read_header();
  posterior_ = find_group(file_, draws_group(header_));
  sample_stats_ = find_group(file_, stats_group(header_));
  summary_ = find_group(file_, "summary");
  if (!has_draws()) return;
  long long written = 0;
  check(nc_get_var_longlong(file_, find_variable(file_, "draws_written"), &written));
  if (wish == or_last_of_warmup && written == 0) take_last_of_warmup();
  if (last_of_warmup_) written = last_of_warmup_->draws;
  if (has_variable(posterior_, "spins")) {
    const auto shape = shape_of(posterior_, find_variable(posterior_, "spins"));
    header_.spins.assign(shape.begin() + 2, shape.end());
  }
  variables_ = variables_of(header_);
  for (auto& v : variables_) {
    v.in = v.group == draws_group(header_) ? posterior_ : find_group(file_, v.group);
    if (v.in < 0) throw netcdf::Failure{NC_ENOGRP};
    v.id = find_variable(v.in, v.name);
    const auto shape = shape_of(v.in, v.id);
    require(
        shape.size() == (v.scalar ? 2u : 3u) && shape[0] == header_.num_chains && (v.scalar || shape[2] == v.size),
        ExitStatus::data, path_ + ": the draws have another shape than the header says",
        std::to_string(header_.num_chains) + " chains and " + std::to_string(v.size) + " names of variable " + v.name,
        "Was the file changed by another program?");
    v.chunk = read_chunk(v.in, v.id, header_.num_chains);
    written = std::min<long long>(written, shape[1]);
  }
  written_ = written;
  const std::uint64_t size = std::filesystem::file_size(path_);
  require_whole(written >= 0 && static_cast<double>(written) * header_.num_chains * std::ssize(header_.names) <= size,
                std::to_string(written) + " draws of " + std::to_string(header_.num_chains) + " chains in " +
                    std::to_string(size) + " bytes");
}

void DrawsReader::require_whole(bool is_whole, const std::string& otherwise) const {
  require(is_whole, ExitStatus::data, path_ + ": the file is damaged", otherwise, "Is there a copy of it?");
}

void DrawsReader::read_header() {
  attributes_.at("target").get_to(header_.target);
  attributes_.at("sampler").get_to(header_.sampler);
  attributes_.at("num_chains").get_to(header_.num_chains);
  attributes_.at("num_warmup").get_to(header_.num_warmup);
  attributes_.at("num_samples").get_to(header_.num_samples);
  attributes_.at("thin").get_to(header_.thin);
  attributes_.at("seed").get_to(header_.seed);
  const auto real = attributes_.at("real").get<std::string>();
  require(precision_named(real).has_value(), ExitStatus::data, path_ + ": the draws have an unknown type",
          "real \"" + real + "\"", "Was the file changed by another program?");
  header_.real = *precision_named(real);
  attributes_.at("variable").get_to(header_.variable);
  const auto parsed = [&](const char* name) { return nlohmann::json::parse(attributes_.at(name).get<std::string>()); };
  header_.config = parsed("configuration");
  header_.kept = attributes_.at("kept_draws") == name_of(KeptDraws::moments) ? KeptDraws::moments : KeptDraws::all;
  if (attributes_.contains("variables")) parsed("variables").get_to(header_.variables);
  if (attributes_.contains("groups")) parsed("groups").get_to(header_.groups);
  if (attributes_.contains("inputs")) header_.inputs = parsed("inputs").get<std::vector<Input>>();
  if (attributes_.contains("stats")) parsed("stats").get_to(header_.stats);
  header_.prior = find_group(file_, "prior") >= 0;
  header_.save_warmup_stats = find_group(file_, "warmup_sample_stats") >= 0;
  header_.names = read_labels(file_, "parameter");
  require_whole(!attributes_.contains("header_hash") ||
                    attributes_.at("header_hash") == draws_detail::header_hash(attributes_, header_.names),
                "names or configuration are not those that were written");
  std::int64_t values = header_.variables.empty() ? std::ssize(header_.names) : 0;
  bool sizes = values > 0 || !header_.variables.empty();
  for (const auto& [name, size] : header_.variables) {
    sizes = sizes && size >= 0 && size <= std::ssize(header_.names);
    if (sizes) values += std::max<std::int64_t>(size, 1);
  }
  require_whole(
      sizes && values == std::ssize(header_.names) && header_.num_chains > 0 && header_.num_chains <= 1 << 24 &&
          header_.num_samples >= 0 && header_.num_samples <= std::int64_t(1) << 40 && header_.thin > 0,
      std::to_string(header_.num_chains) + " chains, " + std::to_string(header_.num_samples) + " samples, thin " +
          std::to_string(header_.thin) + ", " + std::to_string(header_.names.size()) + " names");
}

std::int64_t DrawsReader::parameters_within(std::int64_t bytes) const {
  const std::int64_t dim = std::ssize(header_.names);
  const std::int64_t of_one = header_.num_chains * std::max<std::int64_t>(written_, 1) * std::int64_t{sizeof(double)};
  const std::int64_t fitting = std::clamp<std::int64_t>(bytes / of_one, 1, dim);
  const std::int64_t together = variables_.size() == 1 ? variables_[0].chunk.parameters : 1;
  return fitting < together || fitting == dim ? fitting : fitting / together * together;
}

void DrawsReader::read_parameters(std::int64_t first, std::int64_t count, std::vector<double>& out) const {
  require(has_draws() && first >= 0 && count >= 0 && first + count <= std::ssize(header_.names), ExitStatus::data,
          path_ + ": no draws of these parameters",
          "parameters " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " of " +
              std::to_string(has_draws() ? header_.names.size() : 0),
          "Was the run made with --draws all?");
  out.resize(count * header_.num_chains * written_);
  guarded("the draws", [&] {
    for (const auto& of : variables_) {
      const std::int64_t begin = std::max(first, of.first), end = std::min(first + count, of.first + of.size);
      if (begin >= end) continue;
      const ChunkedVariable v{of.in, of.id, header_.num_chains, of.size, of.chunk};
      double* to = out.data() + (begin - first) * header_.num_chains * written_;
      in_precision(header_.real, [&](auto real) {
        get_transposed<decltype(real)>(v, written_, begin - of.first, end - of.first, to);
      });
    }
  });
}

template <class Value>
std::vector<Value> DrawsReader::sample_stat(const std::string& name) const {
  require(sample_stats_ >= 0, ExitStatus::data, path_ + ": no statistic " + name, "the run kept moments only",
          "Was the run made with --draws all?");
  const std::int64_t rows = iterations_.empty() ? written_ : iterations_.back() + 1;
  std::vector<Value> out(header_.num_chains * rows);
  guarded("statistic " + name, [&] {
    const int variable = find_variable(sample_stats_, name);
    const ChunkedVariable v{sample_stats_, variable, header_.num_chains, 1,
                            read_chunk(sample_stats_, variable, header_.num_chains)};
    get_transposed<Value>(v, rows, 0, 1, out.data());
  });
  if (iterations_.empty()) return out;
  auto to = out.begin();  // of all iterations those of the draws
  for (std::int64_t chain = 0; chain < header_.num_chains; ++chain)
    for (const long long iteration : iterations_) *to++ = out[chain * rows + iteration];
  out.resize(header_.num_chains * written_);
  return out;
}

std::vector<double> DrawsReader::lp() const { return sample_stat<double>("lp"); }

bool DrawsReader::has_stat(const std::string& name) const {
  return std::find(header_.stats.begin(), header_.stats.end(), name) != header_.stats.end();
}

std::vector<float> DrawsReader::stat(const std::string& name) const {
  require(has_stat(name) || name == "acceptance_rate" || name == "diverging", ExitStatus::data,
          path_ + ": no statistic " + name, "not among those of sampler " + header_.sampler, "Is the name right?");
  return sample_stat<float>(name);
}

std::vector<double> DrawsReader::mean_acceptance_rate() const {
  if (!has_draws()) {
    return guarded("the acceptance rates", [&] {
      return summary_ >= 0 && has_variable(summary_, "acceptance_rate")
                 ? read_doubles(summary_, find_variable(summary_, "acceptance_rate"))
                 : std::vector<double>();
    });
  }
  const auto rates = sample_stat<float>("acceptance_rate");
  std::vector<double> means;
  for (std::int64_t chain = 0; chain < header_.num_chains; ++chain) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < written_; ++t) {
      const float rate = rates[chain * written_ + t];
      if (!std::isnan(rate)) sum += rate, ++count;
    }
    means.push_back(sum / count);
  }
  return means;
}

std::vector<std::int64_t> DrawsReader::num_diverging() const {
  if (last_of_warmup_) return std::vector<std::int64_t>(static_cast<std::size_t>(header_.num_chains));
  const auto flags = sample_stat<std::int8_t>("diverging");
  std::vector<std::int64_t> counts;
  for (std::int64_t chain = 0; chain < header_.num_chains; ++chain) {
    const auto first = flags.begin() + chain * written_;
    counts.push_back(std::count_if(first, first + written_, [](std::int8_t flag) { return flag != 0; }));
  }
  return counts;
}

std::vector<std::int64_t> DrawsReader::quarantined() const {
  if (last_of_warmup_) {  // of scouts the attribute does not tell
    std::vector<std::int64_t> out;
    const std::vector<double> all = lp();
    for (std::int64_t chain = 0; chain < header_.num_chains; ++chain)
      if (std::isnan(all[(chain + 1) * written_ - 1])) out.push_back(chain);
    return out;
  }
  return guarded("the list of quarantined chains", [&]() -> std::vector<std::int64_t> {
    if (!attributes_.contains("quarantined")) return {};
    nlohmann::json list = attributes_.at("quarantined");
    if (list.is_string()) list = nlohmann::json::parse(list.get<std::string>());
    if (list.is_number()) return {list.get<std::int64_t>()};
    return list.get<std::vector<std::int64_t>>();
  });
}

std::vector<ParameterSummary> DrawsReader::read_summary() const {
  require(has_summary(), ExitStatus::data, path_ + ": no summary in the file", "no group summary",
          "Was the run made with --draws moments, and did it finish?");
  return guarded("the summary", [&] {
    std::vector<ParameterSummary> parameters;
    for (const std::string& name : read_labels(summary_, "parameter")) parameters.push_back({name});
    for (const SummaryColumn& column : summary_columns) {
      if (!has_variable(summary_, column.name)) continue;
      const std::vector<double> values = read_doubles(summary_, find_variable(summary_, column.name));
      if (values.size() != parameters.size()) throw netcdf::Failure{NC_EDIMSIZE};
      for (std::size_t k = 0; k < values.size(); ++k) parameters[k].*column.figure = values[k];
    }
    return parameters;
  });
}

}  // namespace kilochain
