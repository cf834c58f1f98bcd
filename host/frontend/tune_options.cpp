#include "host/frontend/tune_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/nearest_name.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/option_visitors.hpp"
#include "host/frontend/text.hpp"

namespace kilochain::cli {
namespace {

/// The flags, once: visit(name, value, range | names | kind, meaning).
template <class Visitor>
void visit_tune(Visitor&& visit, TuneOptions& o) {
  visit("over", o.over, "text", "what to tune: NAME=LOW:HIGH[:log], several with commas between");
  visit("objective", o.objective, tune_objective_names,
        "what to make large; of spin models ess_per_second unless given: their iterations differ in cost");
  visit("evaluations", o.evaluations, between(1, 100000), "trials in all, those of the table in `output` included");
  visit("batch", o.batch, between(1, 1000), "points chosen at a time, tried side by side");
  visit("covariance", o.covariance, covariance_names, "how scores at two points go together");
  visit("fit", o.fit, fit_names,
        "lengths and noise of the model: by likelihood, or the 2011 paper's; auto: the paper's for autocorrelation");
  visit("trial_gradients", o.trial_gradients, at_least(1), "gradients that a trial spends, all chains together");
  visit("trial_warmup", o.trial_warmup, at_least(0),
        "warm-up iterations of each trial; auto: 0 where the settings act on kept draws alone, else 200");
  visit("policy_points", o.policy_points, between(0, Policy<1>::most_rows),
        "points of policy.csv, resampled by exp(the model's mean)");
  visit("confirm", o.confirm, between(0, 1000), "fresh trials of the best settings, and of those without tuning");
  visit("output", o.output, "text",
        "folder of the table, the best settings and the figure; an unfinished search in it is resumed");
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, at);) out.push_back(part);
  return out;
}

[[noreturn]] void refuse(const std::string& part, const std::string& why, const std::string& fix) {
  throw Error(ExitStatus::usage, "command line: --over " + part, why, fix);
}

double number(const std::string& part, const std::string& text) {
  const auto v = number_of<double>(text);
  if (!v) refuse(part, fmt::format("\"{}\" is not a number", text), "Write NAME=LOW:HIGH, or NAME=LOW:HIGH:log?");
  return *v;
}

const SettingInfo& setting(const SamplerEntry& sampler, const std::string& part, const std::string& name) {
  std::vector<std::string> known;
  for (const SettingInfo& s : sampler.settings) {
    if (s.name == name) return s;
    if (s.type == "number" || s.type == "integer") known.push_back(s.name);
  }
  refuse(part, fmt::format("sampler {} has no setting {}", sampler.name, name),
         did_you_mean(name, known, fmt::format("`kilochain samplers {}` lists all.", sampler.name)));
}

/// step_size=0.001:1:log
Dimension dimension(const SamplerEntry& sampler, const std::string& part) {
  const std::size_t equals = part.find('=');
  if (equals == std::string::npos) refuse(part, "a setting and its range are needed", "Write NAME=LOW:HIGH?");
  std::string name = key_of(part.substr(0, equals));
  if (name.starts_with("sampler.")) name.erase(0, 8);
  const SettingInfo& info = setting(sampler, part, name);
  if (info.type != "number" && info.type != "integer")
    refuse(part, fmt::format("{} is no number: {}", name, info.type), "Set it, and tune numbers?");
  const auto range = split(part.substr(equals + 1), ':');
  const bool scaled = range.size() == 3 && (range[2] == "log" || range[2] == "linear");
  if (range.size() != 2 && !scaled)
    refuse(part, "a range is two numbers, and log or linear behind them", "Write NAME=LOW:HIGH, or NAME=LOW:HIGH:log?");
  Dimension out{name, number(part, range[0]), number(part, range[1]), scaled && range[2] == "log",
                info.type == "integer"};
  for (const std::size_t k : {0, 1})
    sampler.check("command line: --over: " + sampler.name, {{name, range[k]}});  // each end is in the setting's range
  return out;
}

/// What a tuned run is not asked for: trials have lengths of their own and keep nothing.
constexpr const char* not_of_tune[] = {"num_samples",      "thin",       "draws", "save_warmup",
                                       "chain_batch_size", "superchains"};

}  // namespace

TuneConfiguration read_tune_configuration(const std::vector<std::string>& arguments) {
  const Arguments split_up = split_arguments(arguments);
  return resolve_tune(split_up.config.empty() ? std::vector<Assignment>{} : read_toml(split_up.config), split_up.flags);
}

TuneConfiguration resolve_tune(const std::vector<Assignment>& file, const std::vector<Assignment>& flags) {
  TuneConfiguration out;
  std::vector<Assignment> others;
  std::vector<std::string> seen;
  for (const Assignment& a : flags) {
    Parse parse{a.key, a};
    visit_tune(parse, out.tune);
    if (!parse.found) {
      for (const char* key : not_of_tune)
        require(a.key != key, ExitStatus::usage, fmt::format("{}: {} is not for tune", a.owner, a.shown),
                "trials have lengths of their own and keep nothing", "Remove it? `kilochain tune --help` says more.");
      others.push_back(a);
      continue;
    }
    require(std::find(seen.begin(), seen.end(), a.key) == seen.end(), ExitStatus::usage,
            fmt::format("{}: {} is given twice", a.owner, a.shown), "the second time as " + a.text, "Keep one?");
    seen.push_back(a.key);
  }
  const auto gives = [](const std::vector<Assignment>& all, const char* key) {
    return std::any_of(all.begin(), all.end(), [&](const Assignment& a) { return a.key == key; });
  };
  const bool chains_given = gives(file, "num_chains") || gives(others, "num_chains");
  out.run = resolve(file, others);
  Options& o = out.run.options;
  o.output.clear();
  o.num_samples.reset();
  o.thin = 1, o.chain_batch_size = 0, o.save_warmup = false, o.draws = KeptDraws::all;
  if (!chains_given) o.num_chains = 32;
  require(!out.tune.over.empty(), ExitStatus::usage, "command line: nothing to tune", "--over is not given",
          "Try --over NAME=LOW:HIGH? `kilochain samplers NAME` lists the settings.");
  const SamplerEntry& sampler = find_sampler(o.sampler);
  for (const std::string& part : split(out.tune.over, ',')) out.box.push_back(dimension(sampler, part));
  const Box checked(out.box);
  for (const Dimension& d : out.box)
    if (const auto set = o.sampler_settings.find(d.name); set != o.sampler_settings.end())
      throw Error(ExitStatus::usage, fmt::format("command line: {} is set and tuned", d.name),
                  fmt::format("{} = {}, and --over {}", d.name, set->second, out.tune.over), "Keep one?");
  out.policy = std::all_of(out.box.begin(), out.box.end(), [&](const Dimension& d) {
    return std::find(sampler.drawn.begin(), sampler.drawn.end(), d.name) != sampler.drawn.end();
  });
  if (sampler.asks_nothing() && std::find(seen.begin(), seen.end(), "objective") == seen.end())
    out.tune.objective = TuneObjective::ess_per_second;  // a gradient is an iteration there, of 1 sweep or of 20
  if (!out.tune.fit) out.tune.fit = out.tune.objective == TuneObjective::autocorrelation ? Fit::paper : Fit::likelihood;
  if (!out.tune.trial_warmup) out.tune.trial_warmup = out.policy ? 0 : 200;
  out.length.num_warmup = *out.tune.trial_warmup;
  out.length.gradients = out.tune.trial_gradients;
  if (out.tune.objective == TuneObjective::autocorrelation) out.length.least_draws = 100;  // what it is of
  return out;
}

const std::vector<SettingInfo>& tune_settings() {
  static const std::vector<SettingInfo> all = [] {
    std::vector<Key> keys;
    TuneOptions defaults;
    visit_tune(Describe{keys}, defaults);
    std::vector<SettingInfo> infos;
    for (const Key& key : keys) infos.push_back(key.info);
    return infos;
  }();
  return all;
}

std::string tune_help() {
  std::string out =
      "Usage: kilochain tune [CONFIG.toml] --target NAME --sampler NAME --over NAME=LOW:HIGH[:log],... [--flag value "
      "...]\n\nLooks for the settings of a sampler that suit a target: trials of a few thousand gradients, chosen by "
      "Bayesian\noptimisation. Writes the table of trials, the best settings as TOML for `kilochain sample`, and what "
      "is\nknown of the scores over the box. Interrupted, the same command resumes it.\n\n";
  std::vector<std::vector<std::string>> rows = {{"flag", "type", "default", "meaning (range)"}};
  for (const SettingInfo& info : tune_settings()) rows.push_back(row_of(info));
  out += columns(rows);
  out += R"(
What is run is said as for `kilochain sample`: its flags, its TOML file, the settings of sampler and target; 32 chains
where nothing else is said. --json prints one object. docs/tune.md says what is done and why.

Exit status: 0 done, 2 usage, 3 data, 5 output not written, 8 CUDA device failed, 130 interrupted.

Example: kilochain tune --target logistic_regression --data data/challenger.csv --sampler hmc \
           --over step_size=0.001:1:log,num_steps=1:64 --output output/tune
)";
  return out;
}

}  // namespace kilochain::cli
