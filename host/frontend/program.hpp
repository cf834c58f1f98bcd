// The whole command line as one call: for `kilochain` itself, and for programs of other projects with targets of their own.
#pragma once

namespace kilochain::cli {

/// Runs the subcommand that argv names, with every registered sampler and target. Returns the exit status: 0 done, 2 usage,
/// 3 data, 4 chains were quarantined, 5 output not written, 6 not converged, 8 the CUDA device failed, 130 interrupted.
/// Errors are one line on standard error.
int run_program(int argc, char** argv);

}  // namespace kilochain::cli
