// kilochain reproduce titsias2019: the paper's tables and the data of its figures, beside what was published.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/nearest_name.hpp"
#include "base/units.hpp"
#include "host/frontend/files.hpp"
#include "host/frontend/text.hpp"
#include "papers/titsias2019/agreement.hpp"
#include "papers/titsias2019/figures.hpp"
#include "papers/titsias2019/report.hpp"

namespace kilochain::titsias2019 {
namespace {

namespace fs = std::filesystem;

using papers::Json, papers::say;

struct Flags : papers::Flags {
  std::string only, data_dir, real = "double";
  std::vector<int> tables, figures;  ///< both empty: tables 1 to 6, and with an output figures 1 to 5
  std::int64_t repeats = 0;          ///< 0: the paper's
  bool as_printed = false;
};

bool matches_one(const std::string& only, const PaperRow& row) {
  return only == row.sampler || only == row.paper_name || only == row.target ||
         (only == "hmc" && row.sampler.starts_with("hmc")) || (only == "adaptive_metropolis" && row.sampler == "am");
}

/// `only`: a name, or several with commas between, or target/sampler; empty: every row.
bool matches(const std::string& only, const PaperRow& row) {
  std::istringstream names(only);
  bool any = only.empty();
  for (std::string name; std::getline(names, name, ',');) {
    std::istringstream parts(name);
    bool both = !name.empty();
    for (std::string part; std::getline(parts, part, '/');) both = both && matches_one(part, row);
    any = any || both;
  }
  return any;
}

/// Seconds that a row takes, about: for the order of work, and for what is said before a long one begins.
double predicted(const PaperRow& row, Index repeats) {
  double paper = row.published.seconds;
  for (const PaperRow& r : titsias2019_rows())
    if (row.table == 7 && r.table == 7 && r.sampler == row.sampler && r.target == "mnist_5v6")
      paper = r.published.seconds;
  const double octave = row.measured.repeats > 0 ? row.measured.mean.seconds : paper;
  return octave * (repeats + 3) / (row.table == 7 ? 75.0 : row.target == "caravan" ? 15.0 : 40.0);
}

class Reproduction final : public papers::Reproduction {
 public:
  explicit Reproduction(const Flags& flags)
      : papers::Reproduction(flags), flags_(flags), data_(DataFolder::find(flags.data_dir)) {
    scratch_ = fs::temp_directory_path() / fmt::format("kilochain_reproduce_{}", getpid());
    choose();
  }
  ~Reproduction() override {
    std::error_code ignored;
    fs::remove_all(scratch_, ignored);
  }

 private:
  std::vector<papers::Job> jobs() override {
    std::vector<papers::Job> out;
    results_.resize(chosen_.size());
    for (std::size_t k = 0; k < chosen_.size(); ++k) {
      const PaperRow& row = *chosen_[k].row;
      const Index repeats = repeats_of(row);
      const double seconds = predicted(row, repeats);
      if (!flags_.quiet && (row.table == 7 || row.sampler == "nuts"))
        say(fmt::format("{} {}: {} repeats take about {} of one core", row.target, row.paper_name, repeats,
                        seconds_text(seconds)));
      out.push_back({row.target + " " + row.paper_name, seconds, [this, k, &row, repeats](const auto& tick) {
                       results_[k] = run_row(row, chosen_[k].setup, repeats, seed_of(row), stop(), tick);
                     }});
    }
    for (const int f : figures_) {
      if (f >= 6 && !flags_.quiet)
        say(fmt::format("figure {}: takes about {} of one core", f, seconds_text(figure_seconds(f))));
      const std::string mnist = f >= 6 ? labels() : "";
      out.push_back({fmt::format("figure {}", f), figure_seconds(f), [this, f, mnist](const auto& tick) {
                       const Json data = figure_data(
                           f, data_, mnist, [this](const PaperRow& row) { return matches(flags_.only, row); },
                           flags_.seed, stop(), tick);
                       if (!stop()) cli::write_file(file(fmt::format("_figure{}.json", f)), data.dump() + "\n");
                     }});
    }
    return out;
  }

  struct Chosen {
    const PaperRow* row;
    Setup setup;
  };
  bool in_float() const { return precision_named(flags_.real) == Precision::single_precision; }

  /// The labels of the published MNIST runs, written when first needed.
  std::string labels() {
    const std::string path = (scratch_ / "labels-as-published-idx1-ubyte").string();
    if (!fs::exists(path)) {
      fs::create_directories(scratch_);
      write_published_labels(data_, path);
    }
    return path;
  }
  Index repeats_of(const PaperRow& row) const {
    return static_cast<Index>(flags_.repeats > 0 ? flags_.repeats : row.table == 7 ? 5 : 10);
  }
  /// Of its own for each row: one seed for all would give all rows the same proposals, and errors that go together.
  std::uint64_t seed_of(const PaperRow& row) const {
    return flags_.seed + (static_cast<std::uint64_t>(&row - titsias2019_rows().data()) << 32);
  }
  std::string stem() const override {
    return std::string("titsias2019") + (flags_.as_printed ? "_as_printed" : "") + (in_float() ? "_float" : "");
  }

  void choose() {
    const bool everything = flags_.tables.empty() && flags_.figures.empty();
    std::set<int> tables(flags_.tables.begin(), flags_.tables.end());
    if (everything) tables = {1, 2, 3, 4, 5, 6};
    std::vector<std::string> known;
    bool matched = false;
    for (const PaperRow& row : titsias2019_rows()) {
      for (const auto& name : {row.sampler, row.target})
        if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
      if (!tables.count(row.table)) continue;
      if (!matches(flags_.only, row)) continue;
      matched = true;
      Setup setup =
          setup_of(row.target, row.sampler, flags_.as_printed, data_, row.target == "mnist_5v6" ? labels() : "");
      setup.real = *precision_named(flags_.real);
      chosen_.push_back({&row, setup});
    }
    require(matched || tables.empty(), ExitStatus::usage, fmt::format("command line: --only {}", flags_.only),
            "no row of the chosen tables has that sampler or target",
            did_you_mean(flags_.only, known, fmt::format("Choose among {}?", fmt::join(known, ", "))));
    figures_ = flags_.figures;
    if (everything && !flags_.output.empty() && flags_.only.empty() && !flags_.as_printed && !in_float())
      figures_ = {1, 2, 3, 4, 5};
  }

  std::vector<Json> results() override {
    std::vector<Json> out;
    for (const RowResult& r : results_)
      if (!r.repeats.empty()) out.push_back(to_json(r));  // else interrupted
    return out;
  }

  Json brief(const Json& row) const override { return titsias2019::brief(row); }

  std::size_t deviations(const std::vector<Json>&) const override {
    std::size_t open = 0;
    for (const RowResult& r : results_) {
      const Agreement a = agreement_of(*r.row, r.repeats, r.printed);
      for (const Deviation& d : a.deviations) {
        if (!d.reason.empty()) continue;
        say(fmt::format("deviates: {}: {}", d.name, d.text()));
        ++open;
      }
      for (const std::string& name : a.stale) say(fmt::format("agrees, but is listed as a known deviation: {}", name));
    }
    if (open > 0)
      say(
          fmt::format("{} figures deviate from the authors' code, and nobody has explained them "
                      "(papers/titsias2019/agreement.cpp)",
                      open));
    return open;
  }

  void print(const std::vector<Json>& rows) const override {
    for (std::size_t k = 0; k < rows.size();) {
      std::size_t end = k;
      while (end < rows.size() && rows[end]["target"] == rows[k]["target"]) ++end;
      const std::vector<Json> part(rows.begin() + k, rows.begin() + end);
      fmt::print("table {}: {}, {} repeats\n{}", part[0]["table"].get<int>(), part[0]["target"].get<std::string>(),
                 part[0]["repeats"].get<int>(), cli::columns(table_cells(part)));
      for (const std::string& v : verdicts(part)) fmt::print("  {}\n", v);
      fmt::print("\n");
      k = end;
    }
  }

  std::vector<const char*> keys() const override { return {"target", "sampler"}; }
  std::string plotter() const override { return figures_.empty() ? "" : "tools/plot_titsias2019.py"; }

  std::string page(std::vector<Json>& all) const override {
    Page page;
    for (const PaperRow& p : titsias2019_rows()) {
      const auto r = std::find_if(all.begin(), all.end(),
                                  [&](const Json& j) { return j["target"] == p.target && j["sampler"] == p.sampler; });
      if (r != all.end())
        page.rows.push_back(*r);
      else
        page.missing.push_back(p.target + " " + p.paper_name);
    }
    all = page.rows;
    page.command = fmt::format("kilochain reproduce titsias2019{}{} --output", flags_.as_printed ? " --as-printed" : "",
                               in_float() ? " --real float" : "");
    page.real = *precision_named(flags_.real);
    page.stem = stem();
    for (int f = 1; f <= 7; ++f)
      if (has_figure(f)) page.figures.push_back(f);
    return markdown(page);
  }

  const Flags& flags_;
  DataFolder data_;
  fs::path scratch_;
  std::vector<Chosen> chosen_;
  std::vector<RowResult> results_;
  std::vector<int> figures_;
};

int reproduce(const Flags& flags) {
  for (const int k : flags.tables) papers::check_flag("--table", k, 1, 7, 1);
  for (const int k : flags.figures) papers::check_flag("--figure", k, 1, 7, 1);
  require(precision_named(flags.real).has_value(), ExitStatus::usage,
          fmt::format("command line: --real {}", flags.real), "must be float or double",
          did_you_mean(flags.real, {"float", "double"}, "Try double?"));
  require(precision_named(flags.real) == Precision::double_precision || flags.figures.empty(), ExitStatus::usage,
          "command line: --figure with --real float", "figures are computed in double", "Leave --real out?");
  if (flags.repeats != 0) papers::check_flag("--repeats", flags.repeats, 1, 10000, 10);
  return Reproduction(flags).run();
}

std::function<int()> add_flags(CLI::App& command) {
  const auto f = std::make_shared<Flags>();
  command.add_option("--table", f->tables, "tables, 1 to 7; 1 to 6 when none is named (7 takes hours)");
  command.add_option("--figure", f->figures, "data of figures, 1 to 7, into the output folder");
  command.add_option(
      "--only", f->only,
      "rows (and schemes of figures 3 to 6) of these samplers, targets or target/sampler only, with commas");
  command.add_option("--repeats", f->repeats, "repeats of each row; 0: the paper's 10, 5 in table 7");
  command.add_option("--data-dir", f->data_dir, "folder of the data sets; else data/public or ../shared/data");
  command.add_flag("--as-printed", f->as_printed, "the paper's text where its authors ran something else");
  command.add_option("--real", f->real, "precision of the tables: double, or float to see what it costs and gains")
      ->capture_default_str();
  papers::add_flags(command, *f, "row", "rows");
  return [f] { return reproduce(*f); };
}

const cli::RegisterPaper registered({"titsias2019", "Gradient-based Adaptive Markov Chain Monte Carlo", add_flags});

}  // namespace

}  // namespace kilochain::titsias2019
