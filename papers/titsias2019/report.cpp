#include "papers/titsias2019/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "papers/titsias2019/agreement.hpp"

namespace kilochain::titsias2019 {
namespace {

using papers::Json;

double value(const Json& j, const char* key) {
  return j.is_object() && j.contains(key) && j[key].is_number() ? j[key].get<double>() : none;
}

/// Four digits, or nothing.
std::string digits(double v) {
  if (!std::isfinite(v)) return "";
  if (v == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::abs(v)))) + 1;
  return fmt::format("{:.{}f}", v, before >= 4 ? 0 : std::min(4 - before, 5));
}
std::string fixed(double v, int places) { return std::isfinite(v) ? fmt::format("{:.{}f}", v, places) : ""; }
std::string with_sd(double v, double sd) {
  return std::isfinite(sd) ? fmt::format("{} ({})", digits(v), digits(sd)) : digits(v);
}

std::vector<std::string> line(const std::string& name, const char* what, const Json& j) {
  const double acceptance = value(j, "acceptance");
  return {name,
          what,
          digits(value(j, "seconds")),
          digits(value(j, "seconds_batched")),
          std::isfinite(acceptance) ? fixed(acceptance, 3) : ">0.7",
          fixed(value(j, "ess_min"), 1),
          fixed(value(j, "ess_median"), 1),
          fixed(value(j, "ess_max"), 1),
          with_sd(value(j, "min_ess_per_second"), value(j, "min_ess_per_second_sd"))};
}

const PaperRow& paper_row(const Json& j) {
  for (const PaperRow& r : titsias2019_rows())
    if (r.target == j["target"] && r.sampler == j["sampler"]) return r;
  return titsias2019_rows()[0];
}

std::string name_of(const Json& j) {
  return fmt::format("{} {}", j["target"].get<std::string>(), paper_row(j).paper_name);
}

Agreement agreement_of(const Json& row) {
  std::vector<Repeat> repeats;
  const Json& each = row["per_repeat"];
  repeats.resize(each["acceptance"].size());
  for (std::size_t k = 0; k < repeats.size(); ++k)
    for (const Figure& f : figures) repeats[k].*f.ours = each[f.name][k];
  return agreement_of(paper_row(row), repeats, row.value("printed", ""));
}

const char* const captions[] = {
    "",
    ("Figure 1. Two correlated Gaussians. Left two: the target (green) and the learnt L L' (blue) of gadRWM in two "
     "dimensions, acceptance steered to 0.25 and 0.4, with the last beta. "
     "Right two: the covariance in 51 dimensions, and what gadMALAf learnt in 200 000 iterations, in its own scale."),
    ("Figure 2. Neal's Gaussian. Above: traces of the widest coordinate over the last 20 000 iterations. Below: the "
     "learnt diagonal of L."),
    "Figure 3. Log density of Neal's Gaussian over the last 20 000 iterations.",
    "Figure 4. Log density of German credit over the last 20 000 iterations.",
    ("Figure 5. Log density of Caravan over the last 20 000 iterations. The axis fits the gradient-based samplers; the "
     "draws of gadRWM that lie below it are cut off."),
    "Figure 6. Log density of MNIST, 5 against 6, with the labels of the published runs.",
    "Figure 7. MNIST: the diagonal of the learnt L, pixel by pixel; brighter is larger."};

}  // namespace

papers::Rows table_cells(const std::vector<Json>& rows) {
  papers::Rows out = {{"sampler", "", "s alone", "s batched", "accept", "ESS min", "median", "max", "min ESS/s (sd)"}};
  for (const Json& r : rows) {
    out.push_back(line(paper_row(r).paper_name, "here", r));
    const Json& published = r["published"];
    if (published.is_object()) out.push_back(line("", "published", published));
    if (r["measured"].is_object() && r["measured"].contains("seconds"))
      out.push_back(line("", "authors' code", r["measured"]));
    if (!published.is_object()) continue;
    const auto ratio = [&](const char* key) { return digits(value(r, key) / value(published, key)); };
    out.push_back({"", "here / published", ratio("seconds"),
                   digits(value(r, "seconds_batched") / value(published, "seconds")), ratio("acceptance"),
                   ratio("ess_min"), ratio("ess_median"), ratio("ess_max"), ratio("min_ess_per_second")});
  }
  return out;
}

std::vector<std::string> verdicts(const std::vector<Json>& rows) {
  std::vector<std::string> out;
  std::string agree, untested;
  std::vector<std::string> others;
  for (const Json& r : rows) {
    const Agreement a = agreement_of(r);
    if (!a.tested)
      untested += (untested.empty() ? "" : ", ") + name_of(r);
    else if (a.deviations.empty())
      agree += (agree.empty() ? "" : ", ") + name_of(r);
    for (const Deviation& d : a.deviations)
      others.push_back(fmt::format("{}: {}: {}", name_of(r), d.text(), d.reason.empty() ? "NOT EXPLAINED" : d.reason));
    for (const std::string& name : a.stale)
      others.push_back(fmt::format("{}: {} agrees, but is listed as a known deviation", name_of(r), name));
  }
  if (!agree.empty()) out.push_back("agree: " + agree);
  out.insert(out.end(), others.begin(), others.end());
  if (!untested.empty()) out.push_back("not tested, for want of the authors' code's figures: " + untested);
  return out;
}

namespace {

/// What the page says first.
std::string what_holds(const std::vector<Json>& rows) {
  int compared = 0, agree = 0, listed = 0, open = 0;
  double fastest = none, slowest = none;
  for (const Json& r : rows) {
    const Agreement a = agreement_of(r);
    if (!a.tested) continue;
    ++compared;
    ++(a.deviations.empty() ? agree : a.explained() ? listed : open);
    const double gain = value(r["measured"], "seconds") / value(r, "seconds_batched");
    if (!(gain >= slowest)) slowest = gain;
    if (!(gain <= fastest)) fastest = gain;
  }
  if (compared == 0) return "";
  return fmt::format(
      "**What holds.** {} rows were compared with the authors' code: acceptance within 0.03, and minimum, median and "
      "maximum ESS within four standard errors. {} agree in all four figures; {} deviate in a figure that is known by "
      "name, with a reason that a person found, listed below; {}. Batched, a repeat takes between 1/{:.0f} and "
      "1/{:.0f} "
      "of the time of the authors' code. A time says nothing about an algorithm: both machines and languages differ "
      "from "
      "the paper's.\n\n",
      compared, agree, listed,
      open == 0 ? "no row is left without one" : fmt::format("{} deviate, and nobody has explained it", open), fastest,
      slowest);
}

/// The rows of one table and target, and what they say.
std::string table_section(int table, const std::string& target, const std::vector<Json>& rows) {
  std::set<std::string> made;
  for (const Json& r : rows)
    made.insert(fmt::format("{} repeats, {}, commit {}", r["repeats"].get<int>(), r["date"].get<std::string>(),
                            r["commit"].get<std::string>()));
  std::string out = fmt::format("## Table {}: {}\n\n{}.\n\n{}\n", table, target, fmt::join(made, "; "),
                                papers::markdown_table(table_cells(rows), 2));
  for (const std::string& v : verdicts(rows)) out += "- " + v + "\n";
  return out + "\n";
}

}  // namespace

std::string markdown(const Page& page) {
  std::map<std::pair<int, std::string>, std::vector<Json>> tables;
  for (const Json& r : page.rows) tables[{r["table"].get<int>(), r["target"].get<std::string>()}].push_back(r);
  std::string out = fmt::format(
      "# Gradient-based Adaptive MCMC (Titsias & Dellaportas 2019), run again\n\nMade by `{}`; not by hand. Machine: "
      "{}. Times are seconds of one core, {} precision: one repeat "
      "alone, and the batch of repeats divided by their number. "
      "`published` is the paper's table; `authors' code` is their released code, run again under GNU Octave on one "
      "core of the same kind of machine.\n\n",
      page.command, papers::machine(), page.real == Precision::single_precision ? "single" : "double");
  out += what_holds(page.rows);
  if (!page.missing.empty()) out += fmt::format("**Not run.** {}.\n\n", fmt::join(page.missing, ", "));
  for (const auto& [key, rows] : tables) out += table_section(key.first, key.second, rows);
  if (!page.figures.empty()) out += "## Figures\n\n";
  for (const int f : page.figures)
    out += fmt::format("![Figure {}]({}_figure{}.png)\n\n{}\n\n", f, page.stem, f, captions[f]);
  return out;
}

}  // namespace kilochain::titsias2019
