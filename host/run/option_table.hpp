// Every option of a run, once: flags, TOML keys, help, ranges and the configuration as JSON come from this table.
//   visit(name, value, range | names | kind, meaning)
// Numbers have a range, enumerations the names of their values in order, texts a kind; an empty std::optional is
// "auto".
#pragma once
#include "host/run/options.hpp"

namespace kilochain {

/// `options`: Options or const Options. visit.group(heading) begins a part of the help.
template <class Visitor, class AnyOptions>
void visit_options(Visitor&& visit, AnyOptions& options) {
  AnyOptions& o = options;
  const double far = static_cast<double>(std::int64_t(1) << 40);
  visit.group("What");
  visit("target", o.target, "name", "distribution to sample; `kilochain targets` lists all");
  visit("sampler", o.sampler, "name", "algorithm; `kilochain samplers` lists all");
  visit("adapt_scope", o.adapt_scope, scope_names.value, "adaptation of each chain alone, or one for all chains");
  visit("init", o.init, "text", "starting points: normal[:sd], zeros or file:PATH (one row, or one for each chain)");
  visit("prior_only", o.prior_only, "yes/no",
        "sample the prior of a C++ model: without what it gives to log_likelihood");
  visit.group("Chains and iterations");
  visit("num_chains", o.num_chains, between(0, 1 << 24),
        "chains, run at once; 0 or auto: as many as pay, 16 to 64 on a CPU by what a gradient costs");
  visit("num_warmup", o.num_warmup, between(0, far), "warm-up iterations of each chain; auto: until it has converged");
  visit("num_samples", o.num_samples, between(1, far),
        "iterations of each chain after that; auto: until R-hat is below its bar and target_ess is reached, 20000 at "
        "most");
  visit("target_ess", o.target_ess, between(1, 1 << 30),
        "effective draws of the slowest mean or tail that automatic num_samples wants, of all chains together");
  visit("target_mcse", o.target_mcse, between(0, 1),
        "in place of target_ess: the Monte Carlo error of every mean, at most, in posterior standard deviations");
  visit("superchains", o.superchains, between(0, 1 << 24),
        "groups of chains that begin at one point, between which R-hat is taken; 0: the scouts' where chains are many; "
        "1: none");
  visit("thin", o.thin, between(1, 1 << 30), "keep every thin-th sample");
  visit("seed", o.seed, at_least(0), "the same seed gives the same draws");
  visit.group("Where");
  visit("device", o.device, "text", "auto, cpu, cuda or cuda:k");
  visit("real", o.real, precision_names.value, "precision; auto: double on the CPU, float on CUDA");
  visit("threads", o.threads, between(0, 4096), "CPU threads; 0: all");
  visit("no_graphs", o.no_graphs, "yes/no", "CUDA: every kernel launched by itself, none replayed, to find a fault");
  visit("chain_batch_size", o.chain_batch_size, between(0, 1 << 24), "chains in memory at a time; 0: all");
  visit.group("Draws");
  visit("draws", o.draws, kept_draws_names,
        "what is kept: every draw, what the summary needs, nothing, or draws without their spins");
  visit("equal_modes", o.equal_modes, equal_modes_names,
        "of a posterior that is the same after components swap or signs change, draws of all its modes, or of one");
  visit("output", o.output, "path", "NetCDF file for the draws (ArviZ reads it); without it none is written");
  visit("overwrite", o.overwrite, "yes/no", "draws that are in the output file already may go");
  visit("max_seconds", o.max_seconds, between(0, far),
        "end after so many seconds of warm-up and sampling with what was drawn; 0: no limit");
  visit("checkpoint_seconds", o.checkpoint_seconds, between(0, far),
        "how often the state of the run is saved in the file, for `kilochain resume`; 0: at its end alone");
  visit("save_warmup", o.save_warmup, "yes/no", "statistics of the iterations of a --num-warmup N into the file too");
}

}  // namespace kilochain
