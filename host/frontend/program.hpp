// The whole command line as one call: for `kilochain` itself, and for programs of other projects with own targets.
#pragma once

namespace kilochain::cli {

/// Runs the subcommand that argv names, with every registered sampler and target. Returns the exit status
/// (base/exit_status.hpp). Errors are one line on standard error.
int run_program(int argc, char** argv);

}  // namespace kilochain::cli
