#include "host/report/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "host/statistics/chain_figures.hpp"

namespace kilochain {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string chains(std::size_t count) { return count == 1 ? "1 chain" : fmt::format("{} chains", count); }

/// Numbers of the chains that `is` holds for, by `rank` descending.
Numbers chains_where(const Diagnosis& d, const std::function<bool(const ChainFigures&)>& is,
                     const std::function<double(const ChainFigures&)>& rank) {
  std::vector<const ChainFigures*> found;
  for (const ChainFigures& c : d.chains)
    if (is(c)) found.push_back(&c);
  std::stable_sort(found.begin(), found.end(), [&](auto* a, auto* b) { return rank(*a) > rank(*b); });
  Numbers numbers;
  for (const ChainFigures* c : found) numbers.push_back(c->number);
  return numbers;
}

/// A finding about such chains, where there are any; the words before and behind "3 chains".
void add(Diagnosis& d, const char* kind, const Numbers& found, const std::string& before, const std::string& behind,
         const char* advice) {
  if (!found.empty()) d.findings.push_back({kind, found, before + chains(found.size()) + behind, advice});
}

bool is_stuck(const Diagnosis& d, const ChainFigures& c) { return d.run.stuck > 0 && accepts_nothing(c.acceptance); }

std::string out_words(const Diagnosis& d) {
  const auto far = std::max_element(d.chains.begin(), d.chains.end(), [](auto& a, auto& b) { return a.out < b.out; });
  const std::string of = far->out_of < 0 ? "the log density" : d.run.parameters[far->out_of].name;
  return fmt::format("farthest chain {}, {:.0f} standard errors in {}", far->number, far->out, of);
}

void add_clusters(Diagnosis& d) {
  if (d.clusters.size() < 2) return;
  const Cluster& main = d.clusters[0];
  const auto lower = std::count_if(d.clusters.begin() + 1, d.clusters.end(),
                                   [&](const Cluster& c) { return c.lp < main.lp - 3 * d.lp_sd; });
  const bool scattered = 2 * main.chains.size() < d.chains.size() && 4 * d.clusters.size() > d.chains.size();
  Numbers others;
  for (std::size_t k = 1; k < d.clusters.size(); ++k)
    others.insert(others.end(), d.clusters[k].chains.begin(), d.clusters[k].chains.end());
  d.findings.push_back(
      {"clusters", scattered ? Numbers() : others,
       fmt::format("the chains are in {} places, {} in the largest ({})", d.clusters.size(), main.chains.size(),
                   out_words(d)),
       scattered ? "Hardly any two chains agree: draw far longer, or warm up longer."
       : lower > 0
           ? "The log density is lower where the few are: they have not arrived. Warm up longer: no --num-warmup "
             "is as long as it takes."
           : "The log densities are alike: these may be modes that no chain leaves, and their shares are those of the "
             "starts, not of the posterior. Reparametrise, or take a sampler that crosses (tempering for spins)."});
}

void add_apart(Diagnosis& d) {
  const Numbers* told = nullptr;  // chains that are in another place, and named there
  for (const Finding& f : d.findings)
    if (f.kind == "clusters") told = &f.chains;
  const auto named = [&](std::int64_t c) { return told && std::find(told->begin(), told->end(), c) != told->end(); };
  const auto apart = chains_where(
      d, [&](auto& c) { return c.out > far_out && !is_stuck(d, c) && !named(c.number); },
      [](auto& c) { return c.out; });
  if (apart.empty()) return;
  const bool many = 5 * apart.size() > d.chains.size();
  add(d, "apart", apart, "",
      fmt::format(" of {} farther from the others than noise explains ({})", d.chains.size(), out_words(d)),
      many ? "So many that all are slow, or in several places: draw longer, or take another sampler."
           : "Do not just leave them out: `summary --without-chains` shows how much depends on them.");
}

void add_energy(Diagnosis& d) {
  const auto low = chains_where(
      d, [](auto& c) { return c.e_bfmi < 0.3; }, [](auto& c) { return -c.e_bfmi; });
  add(d, "low energy", low, "E-BFMI below 0.3 in ", "",
      "Trajectories change the energy too little for the tails: reparametrise (a funnel: non-centred).");
  const auto deep = chains_where(
      d, [](auto& c) { return c.deepest >= 0.1; }, [](auto& c) { return c.deepest; });
  add(d, "deep", deep, "trajectories of ", " often end at the greatest tree depth",
      "Raise --max-tree-depth, or bring the parameters to one scale.");
}

}  // namespace

void add_findings(Diagnosis& d) {
  add(d, "quarantined", d.quarantined, "", " met a state that is not finite",
      "Look at the model where they stopped: they are left out of every figure.");
  const auto stuck = chains_where(
      d, [&](auto& c) { return is_stuck(d, c); }, [](auto&) { return 0.0; });
  add(d, "stuck", stuck, "", " accepted nothing",
      "Take the default in place of --sampler, or warm up longer: no --num-warmup is as long as it takes.");
  add_clusters(d);
  add_apart(d);
  std::vector<double> sizes, steps;
  for (const ChainFigures& c : d.chains) sizes.push_back(c.ess_lp), steps.push_back(c.steps_lp);
  const double usual = median_of(sizes), usual_steps = median_of(steps);
  const auto slow = chains_where(
      d, [&](auto& c) { return c.ess_lp < 0.1 * usual && c.steps_lp < 0.2 * usual_steps && !is_stuck(d, c); },
      [](auto& c) { return -c.ess_lp; });
  add(d, "slow", slow, "",
      fmt::format(" with less than a tenth of the usual {:.0f} effective draws of the log density", usual),
      "They may be where the step is too long: a smaller step (higher --target-accept) or more warm-up.");
  const auto divergent = chains_where(
      d, [](auto& c) { return c.divergences > 0; }, [](auto& c) { return static_cast<double>(c.divergences); });
  add(d, "divergent", divergent, fmt::format("{} divergent draws in ", d.run.divergences), "",
      "Raise --target-accept, or reparametrise; the pairs of `report` show where they are.");
  add_energy(d);
}

NextStep next_step(const Diagnosis& d) {
  const Verdict v = verdict_of(d.run);
  NextStep n;
  if (!v.judged)
    n.verdict = "There is nothing to judge.";
  else if (!v.converged)
    n.verdict = "Not converged: " + v.reason + ".";
  else if (!d.findings.empty())
    n.verdict = "R-hat says that the chains agree, but some stand out.";
  else
    n.verdict = "The chains agree: every R-hat is at most 1.01 and nothing stands out.";
  if (!d.run.finished) n.verdict += " The run did not come to its end.";
  if (d.run.last_of_warmup)
    n.advice = "Go on with the warm-up: `kilochain resume FILE`. These are its last draws, not of the posterior." +
               (d.findings.empty() ? "" : " " + d.findings[0].advice);
  else if (v.draws_wanted > 0)
    n.advice = fmt::format("Draw on: `kilochain resume FILE --num-samples {}`.", v.draws_wanted * d.run.thin);
  else if (!d.findings.empty() && (v.converged || d.findings[0].kind != "apart"))
    n.advice = d.findings[0].advice;
  else
    n.advice =
        !v.converged
            ? "Draw longer, warm up longer, or take another sampler."
            : "Read mean, sd and quantiles in the table; the digits beyond the Monte Carlo error (mcse) mean nothing.";
  return n;
}

}  // namespace kilochain
