// The program: which subcommand, and what an error becomes: one line on standard error and an exit status.
#include "host/frontend/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "base/shown.hpp"
#include "base/tell.hpp"
#include "base/version.hpp"
#include "host/frontend/commands.hpp"
#include "host/frontend/papers.hpp"

namespace kilochain::cli {
namespace {

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// "kilochain reproduce titsias2019": as it is typed.
std::string typed(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return (parent ? typed(*parent) + " " : "") + command.get_name();
}

/// The command that was chosen, the innermost.
const CLI::App& chosen_in(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : chosen_in(*chosen[0]);
}

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
              fmt::format("command line: {} {}", flag ? "unknown flag" : "unexpected argument", extra), typed(command),
              did_you_mean(flag ? extra.substr(0, extra.find('=')) : "", known,
                           fmt::format("`{} --help` says what it takes.", typed(command))));
}

/// The first word after the program or after `reproduce` must be one of its commands or papers.
void refuse_unknown(const char* kind, const CLI::App& app, const std::string& first, const char* example) {
  if (first == "--help" || first == "-h" || (first == "--version" && !app.get_parent())) return;
  require(!first.starts_with("-"), ExitStatus::usage, "command line: unknown flag " + first,
          fmt::format("a {} comes first", kind), fmt::format("Try {} {} {}?", typed(app), example, first));
  std::vector<std::string> known;
  for (const CLI::App* command : subcommands_of(app)) known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), first) != known.end()) return;
  throw Error(ExitStatus::usage, fmt::format("command line: unknown {} \"{}\"", kind, first),
              fmt::format("{}", fmt::join(known, ", ")),
              did_you_mean(first, known, fmt::format("`{} --help` says what each does.", typed(app))));
}

/// Flags depend on the sampler and the target that they choose: everything after the command's name is its own.
void add_whole(CLI::App& app, const char* name, const char* meaning, int (*call)(const std::vector<std::string>&),
               int& status) {
  CLI::App* command = app.add_subcommand(name, meaning)->prefix_command();
  command->set_help_flag();
  command->callback([command, call, &status] { status = call(command->remaining()); });
}

void add(CLI::App& app, const Command& command, int& status) {
  CLI::App* added = app.add_subcommand(command.name, command.meaning)->allow_extras();
  added->callback([added, &status, call = command.add_flags(*added)] {
    refuse_extras(*added);
    status = call();
  });
}

/// What the commands about a file of draws take; each adds what it has besides.
struct FileFlags {
  std::string path, without, output;
  bool json = false, overwrite = false;
  std::int64_t rows = 20;
};
std::shared_ptr<FileFlags> file_flags(CLI::App& command) {
  const auto f = std::make_shared<FileFlags>();
  command.add_option("FILE", f->path, "file that `kilochain sample --output` wrote")->required();
  command.add_option("--without-chains", f->without, "chains to leave out, by number: 3,17,20-29");
  return f;
}

std::function<int()> summary_flags(CLI::App& command) {
  const auto f = file_flags(command);
  command.add_flag("--json", f->json, "one JSON object");
  command.add_option("--rows", f->rows, "parameters in the table, worst first")->capture_default_str();
  return [f] { return summary(f->path, f->without, f->json, f->rows); };
}

std::function<int()> diagnose_flags(CLI::App& command) {
  const auto f = file_flags(command);
  command.add_flag("--json", f->json, "one JSON object, with the figures of each chain");
  command.footer("Exit status: as of `kilochain summary`.");
  return [f] { return diagnose(f->path, f->without, f->json); };
}

std::function<int()> report_flags(CLI::App& command) {
  const auto f = file_flags(command);
  command.add_option("--output", f->output, "page to write, for any browser: report.html")->required();
  command.add_flag("--overwrite", f->overwrite, "replace the page that is there");
  command.footer("Exit status: as of `kilochain summary`.");
  return [f] { return report(f->path, f->without, f->output, f->overwrite); };
}

std::function<int()> resume_flags(CLI::App& command) {
  struct Flags {
    std::string path;
    std::map<std::string, std::string> texts;
    bool quiet = false, verbose = false, json = false;
  };
  const auto f = std::make_shared<Flags>();
  command.add_option("FILE", f->path, "file that `kilochain sample --output` wrote; draws are added to it")->required();
  for (const std::string key : resume_keys)
    command.add_option(flag_of(key), f->texts[key],
                       key == "num_samples"
                           ? "iterations of each chain in all, those in the file counted; without it as "
                             "many as the run was to make"
                           : find_common_key(key)->info.meaning);
  command.add_flag("--quiet", f->quiet, "no progress");
  command.add_flag("--verbose", f->verbose, "configuration, estimate, and how the target is evaluated and why");
  command.add_flag("--json", f->json, "exactly one JSON object on standard output");
  command.footer(
      "Everything else is as it was. On the same device the draws are those of a run that was never interrupted.\n"
      "Exit status: as of `kilochain sample`.");
  return [f] {
    std::vector<Assignment> flags;
    for (const auto& [key, text] : f->texts)
      if (!text.empty()) flags.push_back({key, text, "command line", flag_of(key)});
    return resume(f->path, flags, f->quiet, f->verbose, f->json);
  };
}

/// Of samplers and targets.
std::function<int()> list_flags(CLI::App& command, const char* one, int (*list)(const std::string&, bool)) {
  struct Flags {
    std::string name;
    bool verbose = false;
  };
  const auto f = std::make_shared<Flags>();
  command.add_option("NAME", f->name, one);
  command.add_flag("--verbose", f->verbose, "settings of all");
  return [f, list] { return list(f->name, f->verbose); };
}

std::function<int()> generate_flags(CLI::App& command) {
  struct Flags {
    std::string output;
    std::int64_t rows = 1000, features = 10;
    std::uint64_t seed = 1;
  };
  const auto f = std::make_shared<Flags>();
  command.add_option("--output", f->output, "CSV file to write")->required();
  command.add_option("--rows", f->rows, "observations")->capture_default_str();
  command.add_option("--features", f->features, "features")->capture_default_str();
  command.add_option("--seed", f->seed, "the same seed writes the same file")->capture_default_str();
  return [f] { return generate(f->output, f->rows, f->features, f->seed); };
}

std::function<int()> compile_flags(CLI::App& command) {
  struct Flags {
    std::string program, output;
  };
  const auto f = std::make_shared<Flags>();
  command.add_option("FILE", f->program, "Stan program")->required();
  command.add_option("-o,--output", f->output, "library to write; without it FILE with .so in place of .stan");
  command.footer(
      "stanc and the headers of Stan are those of STAN_HOME, or what scripts/install_stan has put in place.");
  return [f] { return compile_stan(f->program, f->output); };
}

void add_commands(CLI::App& app, int& status) {
  add_whole(app, "sample", "draw from a target, summarise, write the draws", sample, status);
  add(app, {"resume", "continue a run that ended early, or draw more", resume_flags}, status);
  add(app, {"summary", "summarise a file of draws", summary_flags}, status);
  add(app, {"diagnose", "which chains of a file of draws stand out, and what to do", diagnose_flags}, status);
  add(app, {"report", "a page of figures of a file of draws, for a browser", report_flags}, status);
  add(app,
      {"samplers", "list the samplers, or the settings of one",
       [](CLI::App& command) { return list_flags(command, "a sampler", list_samplers); }},
      status);
  add(app,
      {"targets", "list the targets, or the settings of one",
       [](CLI::App& command) { return list_flags(command, "a target", list_targets); }},
      status);
  add(app, {"info", "build, devices, libraries", [](CLI::App&) { return info; }}, status);
  add_whole(app, "estimate", "bytes and time of a run, before it is begun", estimate, status);
  add_whole(app, "tune", "look for the settings of a sampler that suit a target, by Bayesian optimisation", tune,
            status);
  add(app, {"generate", "write data for a logistic regression whose truth is known", generate_flags}, status);
  CLI::App* stan = app.add_subcommand("stan", "Stan programs");
  stan->require_subcommand(1);
  add(*stan, {"compile", "make a library of a Stan program, for --target stan", compile_flags}, status);
  if (registered_papers().empty()) return;
  CLI::App* reproduce =
      app.add_subcommand("reproduce", "run a paper's tables and figures again, beside what was published");
  reproduce->require_subcommand(1);
  using enum ExitStatus;
  const std::string statuses = exit_statuses({done, usage, data, output, deviates, interrupted});
  reproduce->footer(statuses);  // the papers inherit it
  for (const auto& [name, paper] : registered_papers()) add(*reproduce, paper, status);
  reproduce->footer("`kilochain reproduce PAPER --help` says more.\n" + statuses);
}

int choose_command(int argc, char** argv) {
  CLI::App app("Thousands of adaptive MCMC chains at once, on CPU and GPU.", program_name());
  app.set_version_flag("--version", std::string("kilochain ") + version());
  app.require_subcommand(1);
  int status = 0;
  add_commands(app, status);
  app.footer(  // after the commands, which would inherit it
      std::string("`kilochain COMMAND --help` says more. A first run:\n") +
      "  kilochain sample --target logistic_regression --data data/challenger.csv --output challenger.nc\n\n" +
      exit_status_table());
  if (argc < 2) {
    std::cout << app.help();
    return exit_code(ExitStatus::usage);
  }
  refuse_unknown("command", app, argv[1], "sample");
  if (std::string(argv[1]) == "reproduce") {
    const std::string paper = registered_papers().begin()->first;
    require(argc > 2, ExitStatus::usage, "command line: no paper", "kilochain reproduce",
            fmt::format("Try kilochain reproduce {}? `kilochain reproduce --help` lists all.", paper));
    refuse_unknown("paper", *app.get_subcommand("reproduce"), argv[2], paper.c_str());
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    const std::string command = typed(chosen_in(app));
    throw Error(ExitStatus::usage, std::string("command line: ") + error.what(), command,
                fmt::format("`{} --help` says what it takes.", command));
  }
  return status;
}

constexpr const char* not_written = "standard output cannot be written";

}  // namespace

int run_program(int argc, char** argv) {
  if (const std::string name = std::filesystem::path(argv[0] ? argv[0] : "").filename(); !name.empty())
    program_name() = name;
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is then a failed write, told as a full disk is
  // A stream that the caller has closed is nowhere, and not the next file that is opened.
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == 1 ? O_RDONLY : O_RDWR);
  try {
    const int status = choose_command(argc, argv);
    require(std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.flush(), ExitStatus::output, not_written,
            "a full disk or a closed pipe", "Write elsewhere?");
    return status;
  } catch (const Error& error) {
    tell(stderr, "{}: {}\n", program_name(), shown(error.what(), dynamic_cast<const ErrorInLines*>(&error) != nullptr));
    return exit_code(error.status());
  } catch (const std::bad_alloc&) {
    tell(stderr, "{}: out of memory (the machine gave no more). Try `kilochain estimate` with the same flags?\n",
         program_name());
  } catch (const std::exception& error) {
    const bool unsaid = std::ferror(stdout);  // which fmt throws, and a full buffer does not
    tell(stderr, "{}: {}{}\n", program_name(), unsaid ? std::string(not_written) + ": " : "", error.what());
    if (unsaid) return exit_code(ExitStatus::output);
  }
  return 1;
}

}  // namespace kilochain::cli
