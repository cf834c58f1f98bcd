// Whether a row agrees with the authors' code, and why not where it is known.
#include <fmt/format.h>

#include <cmath>

#include "papers/titsias2019/rows.hpp"

namespace kilochain::titsias2019 {
namespace {

struct Reference {
  double value, sd;
  int repeats;
};

/// The difference in standard errors of both means. One repeat has no spread: the reference's stands in.
double z_of(const Mean& ours, std::size_t repeats, const Reference& theirs) {
  const double own = std::isfinite(ours.sd) ? ours.sd : theirs.sd, difference = ours.value - theirs.value;
  const double error = std::sqrt(own * own / static_cast<double>(repeats) + theirs.sd * theirs.sd / theirs.repeats);
  return difference == 0 ? 0.0 : difference / error;
}

std::string few_runs(const Measured& m) {
  return m.repeats <= 4
             ? fmt::format("the authors' code was run only {} times here, too few to know its spread", m.repeats)
             : "";
}

std::string reason_for_acceptance(const PaperRow& row, double z) {
  if (!(std::abs(z) < 4)) return few_runs(row.measured);
  return fmt::format(
      "the step (or beta) is frozen at a random point of its walk: single runs of the authors' code lie between {:.3f} "
      "and {:.3f}; the difference is within the spread",
      row.measured.acceptance_least, row.measured.acceptance_most);
}

std::string reason_for_ess(const PaperRow& row) {
  if (row.sampler.rfind("hmc", 0) == 0)
    return fmt::format(
        "trajectories of one fixed length are nearly periodic in some directions, so ESS hangs on where the step "
        "froze; {}",
        row.measured.repeats <= 4 ? few_runs(row.measured) : "single runs differ by factors");
  return few_runs(row.measured);
}

}  // namespace

Agreement agreement_of(const RowResult& r) {
  Agreement out;
  const Measured& m = r.row->measured;
  out.tested = m.repeats > 0;
  if (!out.tested) return out;
  const auto check = [&](const char* name, double Repeat::*member, double value, double sd, bool is_acceptance) {
    const Mean ours = mean_of(r.repeats, member);
    const double z = z_of(ours, r.repeats.size(), {value, sd, m.repeats});
    const bool fine = is_acceptance ? std::abs(ours.value - value) <= 0.03 : std::abs(z) < 4;
    if (fine) return;
    const int digits = is_acceptance ? 3 : 1;
    out.findings.push_back(
        {fmt::format("{} {:.{}f} against {:.{}f} (z = {:.1f})", name, ours.value, digits, value, digits, z),
         !r.printed.empty() ? "as printed: " + r.printed
         : is_acceptance    ? reason_for_acceptance(*r.row, z)
                            : reason_for_ess(*r.row)});
  };
  check("acceptance", &Repeat::acceptance, m.mean.acceptance, m.acceptance_sd, true);
  check("ESS min", &Repeat::ess_min, m.mean.ess_min, m.ess_min_sd, false);
  check("ESS median", &Repeat::ess_median, m.mean.ess_median, m.ess_median_sd, false);
  check("ESS max", &Repeat::ess_max, m.mean.ess_max, m.ess_max_sd, false);
  return out;
}

}  // namespace kilochain::titsias2019
