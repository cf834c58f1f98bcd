#include "papers/titsias2019/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kilochain::titsias2019 {
namespace {

constexpr double paper_repeats = 10;

/// One repeat has no spread, and adds none.
double squares(double sd, double repeats) { return repeats > 1 ? (repeats - 1) * sd * sd : 0.0; }

double z_of(const Mean &ours, double n, double theirs, double their_sd, double m) {
  const double difference = ours.value - theirs;
  const double spread = std::sqrt((squares(ours.sd, n) + squares(their_sd, m)) / (n + m - 2));
  return difference == 0 ? 0.0 : difference / (spread * std::sqrt(1 / n + 1 / m));
}

const KnownDeviation *find_known(const std::string &name) {
  const auto &all = known_deviations();
  const auto it = std::find_if(all.begin(), all.end(), [&](const KnownDeviation &k) { return k.name == name; });
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

std::string Deviation::text() const {
  const std::string figure = name.substr(name.rfind('/') + 1);
  for (const Figure &f : figures)
    if (f.name == figure)
      return fmt::format("{} {:.{}f} against {:.{}f} (z = {:.1f})", f.words, ours, f.digits, theirs, f.digits, z);
  return name;
}

bool Agreement::explained() const {
  return std::none_of(deviations.begin(), deviations.end(), [](const Deviation &d) { return d.reason.empty(); });
}

Agreement agreement_of(const PaperRow &row, const std::vector<Repeat> &repeats, const std::string &printed) {
  Agreement out;
  const Measured &measured = row.measured;
  out.tested = measured.repeats > 0;
  if (!out.tested) return out;
  const double n = repeats.size(), band = 0.03 * std::sqrt(std::max(1.0, paper_repeats / n));
  for (const Figure &f : figures) {
    const Mean ours = mean_of(repeats, f.ours);
    const double theirs = measured.mean.*f.theirs, z = z_of(ours, n, theirs, measured.*f.their_sd, measured.repeats);
    const bool agrees = f.ours == &Repeat::acceptance ? std::abs(ours.value - theirs) <= band : std::abs(z) < 4;
    const std::string name = row.target + "/" + row.sampler + "/" + f.name;
    const KnownDeviation *known = find_known(name);
    if (!agrees) {
      const std::string reason = !printed.empty() ? "as printed: " + printed : known ? known->reason : "";
      out.deviations.push_back({name, ours.value, theirs, z, reason});
    } else if (known && printed.empty() && n >= paper_repeats) {
      out.stale.push_back(name);
    }
  }
  return out;
}

}  // namespace kilochain::titsias2019
