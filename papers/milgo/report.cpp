#include "papers/milgo/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace kilochain::milgo {
namespace {

using papers::Json, papers::Rows, papers::markdown_table;

const char* mean_key(int figure) { return figure == mean_error ? "mean" : "error"; }

std::string text(const Json& j, const char* key) { return j[key].get<std::string>(); }
std::string where(const Json& c) {
  return fmt::format("{}, d = {}, {}", text(c, "target"), c["dim"].get<int>(), text(c, "name"));
}

/// "1.72 (0.03)": a number and its standard error.
std::string with_error(double v, double error, bool sign = false) {
  return sign ? fmt::format("{:+.2f} ({:.2f})", v, error) : fmt::format("{:.2f} ({:.2f})", v, error);
}
std::string ours(const Json& c, int f, bool deviation) {
  const Json& q = c[figure_names[f]];
  return deviation ? with_error(q["sd"], q["sd_se"]) : with_error(q[mean_key(f)], q["se"], f != mean_error);
}

struct Number {
  double value, error;
};
Number number(const Json& c, int f) { return {c[figure_names[f]][mean_key(f)], c[figure_names[f]]["se"]}; }
/// a - b in standard errors.
double z_of(Number a, Number b) { return (a.value - b.value) / std::hypot(a.error, b.error); }

/// The cell with the most runs, or null.
const Json* find(const std::vector<Json>& cells, const std::string& target, int dim, const std::string& name,
                 const std::string& adaptation) {
  const Json* best = nullptr;
  for (const Json& c : cells)
    if (c["target"] == target && c["dim"] == dim && c["name"] == name && c["adaptation"] == adaptation &&
        (!best || c["runs"].get<int>() > (*best)["runs"].get<int>()))
      best = &c;
  return best;
}

/// Every pair of the table's samplers on one target: what was printed, what many runs say, and the verdict.
struct Pair {
  std::string text, verdict;
};
std::vector<Pair> pairs(const std::vector<Json>& cells) {
  std::vector<Pair> out;
  const std::vector<Cell> printed = table_1();
  for (std::size_t i = 0; i < printed.size(); ++i)
    for (std::size_t j = i + 1; j < printed.size(); ++j) {
      const Cell &a = printed[i], &b = printed[j];
      const Json *x = find(cells, a.target, a.dim, a.name, "throughout"),
                 *y = find(cells, b.target, b.dim, b.name, "throughout");
      if (a.target != b.target || !x || !y) continue;
      const Number pa{a.published->mean[mean_error], a.published->sd[mean_error] / 10},
          pb{b.published->mean[mean_error], b.published->sd[mean_error] / 10};
      const double theirs = z_of(pa, pb), z = z_of(number(*x, mean_error), number(*y, mean_error));
      const double difference = number(*x, mean_error).value - number(*y, mean_error).value;
      const bool real = std::abs(z) > 4, same = (theirs > 0) == (difference > 0);
      out.push_back({fmt::format("{}: {} - {} | {:+.2f} ({:+.1f}) | {:+.2f} ({:+.1f})", a.target, a.name, b.name,
                                 pa.value - pb.value, theirs, difference, z),
                     !real                  ? "no difference found"
                     : !same                ? "reversed"
                     : std::abs(theirs) > 2 ? "real, and seen"
                                            : "real, in the noise of 100 runs"});
    }
  return out;
}

/// One sampler on one target that adapts otherwise, beside the paper's way.
struct Change {
  std::string target, name;
  Number error, error_before, share, share_before;
  double z_error() const { return z_of(error, error_before); }
  double z_share() const { return z_of(share, share_before); }
  /// The share inside the region is nearer to what it should be, beyond doubt (or farther off, when `worse`).
  bool share_nearer(bool worse = false) const {
    const double nearer = std::abs(share_before.value) - std::abs(share.value);
    return std::abs(z_share()) > 4 && (worse ? -nearer : nearer) > 0;
  }
};
std::vector<Change> changes(const std::vector<Json>& cells, const std::string& adaptation) {
  std::vector<Change> out;
  for (const char* target : {"pi3", "pi4"})
    for (const char* name : {"AP", "AM", "M-GaA", "M-CMA"}) {
      const Json *base = find(cells, target, 8, name, "throughout"), *other = find(cells, target, 8, name, adaptation);
      if (base && other)
        out.push_back({target, name, number(*other, mean_error), number(*base, mean_error), number(*other, region_68),
                       number(*base, region_68)});
    }
  return out;
}

constexpr struct {
  const char *adaptation, *head;
} other_ways[] = {{"vanishing", "vanishing adaptation"},
                  {"constant", "a constant rate in place of 1/(t + 2)"},
                  {"frozen", "adaptation frozen after the first half"},
                  {"pooled", "a hundred chains that share what they learn"}};

/// "With vanishing adaptation the error of the mean falls in 2 of 6 cells, rises in none; ..."
std::string sentence(const std::string& head, const std::vector<Change>& all) {
  const auto count = [&](auto which) {
    const auto n = std::count_if(all.begin(), all.end(), which);
    return n == 0 ? std::string("none") : std::to_string(n);
  };
  return fmt::format(
      " With {}, of {} cells the error of the mean falls in {} and rises in {}, the share inside the region of 68.3 % "
      "comes nearer to it in {} and goes farther off in {}.",
      head, all.size(), count([](const Change& c) { return c.z_error() < -4; }),
      count([](const Change& c) { return c.z_error() > 4; }), count([](const Change& c) { return c.share_nearer(); }),
      count([](const Change& c) { return c.share_nearer(true); }));
}

std::string conclusions(const std::vector<Json>& cells) {
  const auto all = pairs(cells);
  if (all.empty()) return "";
  const auto count = [&](const char* verdict) {
    return std::count_if(all.begin(), all.end(), [&](const Pair& p) { return p.verdict == verdict; });
  };
  int most = 0;
  for (const Json& c : cells) most = std::max(most, c["runs"].get<int>());
  std::string out = fmt::format(
      "**What the runs say.** Of the {} differences in mean error between two samplers of the table, {} are real and "
      "were seen by the paper's 100 runs (beyond two of its own standard errors, on the right side), {} are real but "
      "were in its noise, {} come out the other way round, and {} are not there at up to {} runs a cell.",
      all.size(), count("real, and seen"), count("real, in the noise of 100 runs"), count("reversed"),
      count("no difference found"), most);
  for (const auto& way : other_ways)
    if (const auto found = changes(cells, way.adaptation); !found.empty()) out += sentence(way.head, found);
  for (const char* target : {"pi3", "pi4"})
    for (const char* name : {"gad_mala_fast", "nuts"})
      if (const Json* c = find(cells, target, 8, name, "frozen"))
        out += fmt::format(" On {} {} has error {}, and {} points inside 68.3 %.", target, name,
                           with_error(number(*c, mean_error).value, number(*c, mean_error).error),
                           with_error(number(*c, region_68).value, number(*c, region_68).error, true));
  return out + " A change counts beyond four standard errors.\n\n";
}

/// The changes with their z, a row each.
std::string changes_table(const std::vector<Json>& cells) {
  Rows rows = {{"change", "target", "sampler", "mean error", "z", "68.3 %", "z"}};
  for (const auto& way : other_ways)
    for (const Change& c : changes(cells, way.adaptation))
      rows.push_back({way.head, c.target, c.name, fmt::format("{:.2f} to {:.2f}", c.error_before.value, c.error.value),
                      fmt::format("{:+.1f}", c.z_error()),
                      fmt::format("{:+.2f} to {:+.2f}", c.share_before.value, c.share.value),
                      fmt::format("{:+.1f}", c.z_share())});
  return markdown_table(rows, 3);
}

}  // namespace

Json to_json(const CellResult& r) {
  Json out = {{"source", "milgo"},         {"target", r.cell.target}, {"dim", r.cell.dim},
              {"sampler", r.cell.sampler}, {"name", r.cell.name},     {"adaptation", name_of(r.cell.adaptation)},
              {"runs", r.num_runs()}};
  for (int f = 0; f < num_figures; ++f) {
    const Spread s = r.spread(static_cast<Figure>(f));
    out[figure_names[f]] = {{mean_key(f), s.mean}, {"sd", s.sd}, {"se", s.mean_error}, {"sd_se", s.sd_error}};
  }
  out["acceptance"] = r.acceptance;
  out["seconds"] = r.seconds;
  out["published"] = nullptr;
  if (r.cell.published)
    for (int f = 0; f < num_figures; ++f)
      out["published"][figure_names[f]] = {{mean_key(f), r.cell.published->mean[f]}, {"sd", r.cell.published->sd[f]}};
  out["findings"] = Json::array();
  for (const Comparison& c : compare(r))
    if (!(std::abs(c.z) <= 4))
      out["findings"].push_back({{"figure", figure_names[c.figure]},
                                 {"of", c.deviation ? "sd" : mean_key(c.figure)},
                                 {"here", c.ours},
                                 {"published", c.published},
                                 {"z", c.z},
                                 {"reason", c.reason}});
  return out;
}

Rows table_rows(const std::vector<Json>& cells) {
  Rows out = {{"target", "sampler", "", "runs", "mean error", "sd", "68.3 %", "sd", "99 %", "sd", "accept", "s"}};
  for (const Json& c : cells) {
    const std::string adaptation = text(c, "adaptation");
    out.push_back({fmt::format("{} d={}", text(c, "target"), c["dim"].get<int>()), text(c, "name"),
                   adaptation == "throughout" ? "here" : adaptation, std::to_string(c["runs"].get<int>()),
                   ours(c, 0, false), ours(c, 0, true), ours(c, 1, false), ours(c, 1, true), ours(c, 2, false),
                   ours(c, 2, true), fmt::format("{:.3f}", c["acceptance"].get<double>()),
                   fmt::format("{:.1f}", c["seconds"].get<double>())});
    const Json& p = c["published"];
    if (!p.is_object() || adaptation != "throughout") continue;
    std::vector<std::string> row = {"", "", "published", "100"};
    for (int f = 0; f < num_figures; ++f) {
      row.push_back(fmt::format("{:.2f}", p[figure_names[f]][mean_key(f)].get<double>()));
      row.push_back(fmt::format("{:.2f}", p[figure_names[f]]["sd"].get<double>()));
    }
    row.insert(row.end(), {"", ""});
    out.push_back(row);
  }
  return out;
}

std::string markdown(const std::vector<Json>& cells, bool has_figure) {
  std::vector<Json> few, many, others, open;
  std::set<std::string> made;
  for (const Json& c : cells) {
    const bool paper = text(c, "adaptation") == "throughout", printed = c["published"].is_object();
    const bool best = &c == find(cells, text(c, "target"), c["dim"], text(c, "name"), text(c, "adaptation"));
    if (paper && printed && c["runs"] == 100) few.push_back(c);
    if (best) (!paper ? open : printed ? many : others).push_back(c);
    made.insert(fmt::format("{}, commit {}", text(c, "date"), text(c, "commit")));
  }
  std::string out = fmt::format(
      "# Comparison of adaptive MCMC samplers (Milgo et al.), run again\n\n"
      "Made by `kilochain reproduce milgo --output`; not by hand. {}. {}. Each run: x_0 uniform on [-5, 5]^d, sigma_0 "
      "= 1, C_0 the target's untwisted "
      "covariance for MH and I for the others, 10 000 iterations, the last 5 000 kept. The text prints C_0 the other "
      "way round, I for MH, which it calls the optimal proposal, and the target's covariance for the rest; under "
      "`Published numbers` stands what that reading gives where it matters. The error is the distance of the draws' "
      "mean from the target's, and the shares inside the 68.3 % region "
      "and outside the 99 % region are given as differences from 68.3 % and 1 % in percentage points. Standard errors "
      "in brackets, of pooled cells between populations of a hundred chains that share what they learn; s: CPU seconds "
      "of all runs of the cell, one core. MH is `rwm` with `preset = mh_optimal`.\n\n",
      papers::machine(), fmt::join(made, "; "));
  out += conclusions(cells);
  std::string findings;
  for (const Json& c : many)
    for (const Json& f : c["findings"])
      findings += fmt::format("- {}: {} of {}: {:.2f} published, {:.2f} here, {:+.1f} standard errors. {}\n", where(c),
                              text(f, "of"), text(f, "figure"), f["published"].get<double>(), f["here"].get<double>(),
                              f["z"].get<double>(), text(f, "reason").empty() ? "No reason found." : text(f, "reason"));
  if (!many.empty())
    out +=
        "## Published numbers more than four standard errors from ours\n\n"
        "The errors are those of 100 runs on their side; printed shares carry no sign and are compared with the "
        "absolute value of ours.\n\n" +
        (std::any_of(many.begin(), many.end(),
                     [](const Json& c) { return c["runs"].get<std::size_t>() < fewest_compared; })
             ? fmt::format("Cells of fewer than {} runs are compared with nothing.\n\n", fewest_compared)
             : "") +
        (findings.empty() ? std::string("None.\n") : findings) + "\n";
  if (!few.empty()) out += "## Table 1 as published: 100 runs\n\n" + markdown_table(table_rows(few), 3) + "\n";
  if (!many.empty()) out += "## Table 1 with many runs\n\n" + markdown_table(table_rows(many), 3) + "\n";
  if (const auto all = pairs(cells); !all.empty()) {
    out +=
        "## Which differences are real\n\n"
        "Differences in the mean error, in brackets divided by their standard error.\n\n"
        "| pair | published | here | verdict |\n|---|---:|---:|---|\n";
    for (const Pair& p : all) out += fmt::format("| {} | {} |\n", p.text, p.verdict);
    out += "\n";
  }
  if (!open.empty())
    out += "## Vanishing, frozen and pooled adaptation, and gradients\n\n" + changes_table(cells) + "\n" +
           markdown_table(table_rows(open), 3) + "\n";
  if (!others.empty()) out += "## The other cells\n\n" + markdown_table(table_rows(others), 3) + "\n";
  if (has_figure)
    out +=
        "## Figure 1\n\n![Figure 1](milgo_figure1.png)\n\n"
        "Draws of pi4, d = 8, in its first two coordinates after the first half, 20 of each of a hundred runs, over "
        "the "
        "contours that hold 68.3, 90, 95 and 99 % of the target in two dimensions. Drawn by `tools/plot_milgo.py`.\n";
  return out;
}

}  // namespace kilochain::milgo
