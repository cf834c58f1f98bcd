// The program: which subcommand, and what an error becomes: one line on standard error and an exit status.
#include "host/frontend/program.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>

#include "host/frontend/commands.hpp"
#include "kernels/device/error.hpp"
#include "targets/data/nearest_name.hpp"

namespace kilochain::cli {
namespace {

/// A flag that the subcommand does not have: CLI11 says only that it was not expected.
void refuse_extras(const CLI::App& command) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return;
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const std::string& extra = extras[0];
  const bool flag = extra.starts_with("-");
  throw Error(ExitStatus::usage,
              fmt::format("command line: {} {}", flag ? "unknown flag" : "unexpected argument", extra),
              "kilochain " + command.get_name(),
              flag ? fmt::format("Did you mean {}?", nearest_name(extra.substr(0, extra.find('=')), known))
                   : fmt::format("`kilochain {} --help` says what it takes.", command.get_name()));
}

void refuse_unknown_command(const CLI::App& app, const std::string& first) {
  std::vector<std::string> known = {"--help", "-h", "--version"};
  if (std::find(known.begin(), known.end(), first) != known.end()) return;
  require(!first.starts_with("-"), ExitStatus::usage, "command line: unknown flag " + first, "a command comes first",
          "Try kilochain sample " + first + "?");
  known.clear();
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), first) != known.end()) return;
  throw Error(ExitStatus::usage, fmt::format("command line: unknown command \"{}\"", first),
              fmt::format("{}", fmt::join(known, ", ")), fmt::format("Did you mean {}?", nearest_name(first, known)));
}

int choose_command(int argc, char** argv) {
  CLI::App app("Thousands of adaptive MCMC chains at once, on CPU and GPU.", "kilochain");
  app.set_version_flag("--version", "kilochain " KILOCHAIN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "`kilochain COMMAND --help` says more. A first run:\n"
      "  kilochain sample --target logistic_regression --data data/challenger.csv --output challenger.nc");
  int status = 0;

  // Their flags depend on the sampler and target that they choose: everything after the name is theirs.
  const auto whole = [&](const char* name, const char* meaning, int (*call)(const std::vector<std::string>&)) {
    CLI::App* command = app.add_subcommand(name, meaning)->prefix_command();
    command->set_help_flag();
    command->callback([command, call, &status] { status = call(command->remaining()); });
  };
  const auto plain = [&](const char* name, const char* meaning) {
    return app.add_subcommand(name, meaning)->allow_extras();
  };

  whole("sample", "draw from a target, summarise, write the draws", sample);

  std::string path, sampler, target, output;
  bool json = false, verbose = false;
  std::int64_t shown = 20, rows = 1000, features = 10;
  std::uint64_t seed = 1;
  CLI::App* summary_command = plain("summary", "summarise a file of draws");
  summary_command->add_option("FILE", path, "file that `kilochain sample --output` wrote")->required();
  summary_command->add_flag("--json", json, "one JSON object");
  summary_command->add_option("--rows", shown, "parameters in the table, worst first")->capture_default_str();
  summary_command->callback([&] { refuse_extras(*summary_command), status = summary(path, json, shown); });

  CLI::App* samplers_command = plain("samplers", "list the samplers, or the settings of one");
  samplers_command->add_option("NAME", sampler, "a sampler");
  samplers_command->add_flag("--verbose", verbose, "settings of all");
  samplers_command->callback([&] { refuse_extras(*samplers_command), status = list_samplers(sampler, verbose); });

  CLI::App* targets_command = plain("targets", "list the targets, or the settings of one");
  targets_command->add_option("NAME", target, "a target");
  targets_command->add_flag("--verbose", verbose, "settings of all");
  targets_command->callback([&] { refuse_extras(*targets_command), status = list_targets(target, verbose); });

  CLI::App* info_command = plain("info", "build, devices, libraries");
  info_command->callback([&] { refuse_extras(*info_command), status = info(); });

  whole("estimate", "bytes and time of a run, before it is begun", estimate);

  CLI::App* generate_command = plain("generate", "write data for a logistic regression whose truth is known");
  generate_command->add_option("--output", output, "CSV file to write")->required();
  generate_command->add_option("--rows", rows, "observations")->capture_default_str();
  generate_command->add_option("--features", features, "features")->capture_default_str();
  generate_command->add_option("--seed", seed, "the same seed writes the same file")->capture_default_str();
  generate_command->callback(
      [&] { refuse_extras(*generate_command), status = generate(output, rows, features, seed); });

  ReproduceFlags r;
  CLI::App* reproduce_command = plain("reproduce", "run a paper's tables and figures again, beside what was published");
  reproduce_command->add_option("PAPER", r.paper, "titsias2019: Gradient-based Adaptive Markov Chain Monte Carlo")
      ->required();
  reproduce_command->add_option("--table", r.tables, "tables, 1 to 7; 1 to 6 when none is named (7 takes hours)");
  reproduce_command->add_option("--figure", r.figures, "data of figures, 1 to 7, into the output folder");
  reproduce_command->add_option(
      "--only", r.only,
      "rows (and schemes of figures 3 to 6) of these samplers, targets or target/sampler only, with commas");
  reproduce_command->add_option("--repeats", r.repeats, "repeats of each row; 0: the paper's 10, 5 in table 7");
  reproduce_command->add_flag("--json", r.json, "one JSON array, an object for each row");
  reproduce_command->add_option("--output", r.output, "folder for the page, its data and those of the figures");
  reproduce_command->add_option("--data-dir", r.data_dir,
                                "folder of the data sets; else data/public or ../shared/data");
  reproduce_command->add_flag("--as-printed", r.as_printed, "the paper's text where its authors ran something else");
  reproduce_command
      ->add_option("--real", r.real, "precision of the tables: double, or float to see what it costs and gains")
      ->capture_default_str();
  reproduce_command->add_option("--seed", r.seed, "the same seed draws the same")->capture_default_str();
  reproduce_command->add_option("--threads", r.threads, "rows at a time, each on one core; 0: as many as cores");
  reproduce_command->callback([&] { refuse_extras(*reproduce_command), status = reproduce(r); });

  if (argc < 2) {
    std::cout << app.help();
    return static_cast<int>(ExitStatus::usage);
  }
  refuse_unknown_command(app, argv[1]);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string command = chosen.empty() ? "kilochain" : "kilochain " + chosen[0]->get_name();
    throw Error(ExitStatus::usage, std::string("command line: ") + error.what(), command,
                fmt::format("`{} --help` says what it takes.", command));
  }
  return status;
}

}  // namespace

int run_program(int argc, char** argv) {
  try {
    const int status = choose_command(argc, argv);
    require(std::fflush(stdout) == 0 && !std::ferror(stdout), ExitStatus::output, "standard output cannot be written",
            "a full disk or a closed pipe", "Write elsewhere?");
    return status;
  } catch (const Error& error) {
    fmt::print(stderr, "kilochain: {}\n", error.what());
    return static_cast<int>(error.status());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr,
               "kilochain: out of memory (the machine gave no more). Try `kilochain estimate` with the same flags?\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "kilochain: {}\n", error.what());
  }
  return 1;
}

}  // namespace kilochain::cli
