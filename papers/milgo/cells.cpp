// The paper's table, and the cells beside it.
#include "papers/milgo/paper.hpp"

namespace kilochain::milgo {
namespace {

Cell cell(const std::string& target, Index dim, const std::string& name,
          Adaptation adaptation = Adaptation::throughout) {
  Cell c{target, dim, name, "", {}, adaptation, std::nullopt};
  if (name == "MH") {
    c.sampler = "rwm";
    c.settings = {{"preset", "mh_optimal"}, {"long_axis", target == "pi2" ? "diagonal" : "first"}};
  } else if (name == "AP") {
    c.sampler = "adaptive_proposal";
  } else if (name == "AM") {
    c.sampler = "adaptive_metropolis_haario";
  } else if (name == "M-GaA") {
    c.sampler = "gaussian_adaptation";
  } else if (name == "M-CMA") {
    c.sampler = "cma";
  } else {
    c.sampler = name;
  }
  if (adaptation == Adaptation::vanishing) c.settings["adapt_schedule"] = "vanishing";
  if (adaptation == Adaptation::constant) c.settings["adapt_schedule"] = "constant";
  return c;
}

}  // namespace

std::vector<Cell> table_1() {
  // Rows of the printed table, top to bottom: mean and std of |E|, err and std inside 68.3 %, diff and std beyond 99 %.
  const struct {
    const char *target, *name;
    double figures[6];
  } printed[] = {
      {"pi3", "MH", {2.70, 1.85, 1.34, 6.80, 0.29, 0.76}},    {"pi3", "AM", {1.35, 2.48, 0.54, 5.08, 0.18, 0.62}},
      {"pi3", "M-GaA", {2.36, 2.40, 0.75, 6.82, 0.49, 0.57}}, {"pi3", "M-CMA", {1.27, 2.34, 0.38, 4.30, 0.52, 0.48}},
      {"pi4", "MH", {7.90, 8.30, 2.51, 8.94, 0.42, 0.75}},    {"pi4", "AM", {6.41, 4.41, 2.23, 5.16, 0.22, 0.43}},
      {"pi4", "M-GaA", {8.01, 6.69, 3.24, 6.96, 0.38, 0.90}}, {"pi4", "M-CMA", {6.94, 4.38, 2.19, 4.93, 0.34, 0.68}},
  };
  std::vector<Cell> out;
  for (const auto& p : printed) {
    out.push_back(cell(p.target, 8, p.name));
    const double* f = p.figures;
    out.back().published = Published{{f[0], f[2], f[4]}, {f[1], f[3], f[5]}};
  }
  return out;
}

std::vector<Cell> all_cells() {
  std::vector<Cell> out;
  const std::vector<Cell> printed = table_1();
  for (const char* target : {"pi1", "pi2", "pi3", "pi4"})
    for (const Index dim : {2, 4, 8})
      for (const char* name : {"MH", "AP", "AM", "M-GaA", "M-CMA"}) {
        out.push_back(cell(target, dim, name));
        for (const Cell& p : printed)
          if (p.target == target && p.dim == dim && p.name == name) out.back().published = p.published;
      }
  return out;
}

std::vector<Cell> open_questions() {
  std::vector<Cell> out;
  for (const char* target : {"pi3", "pi4"}) {
    for (const char* name : {"AP", "M-GaA", "M-CMA"})
      for (const Adaptation a : {Adaptation::vanishing, Adaptation::frozen, Adaptation::pooled})
        out.push_back(cell(target, 8, name, a));
    for (const Adaptation a : {Adaptation::constant, Adaptation::frozen, Adaptation::pooled})
      out.push_back(cell(target, 8, "AM", a));
    out.push_back(cell(target, 8, "gad_mala_fast", Adaptation::frozen));
    out.back().settings["optimizer"] = "rmsprop";  // its paper's rule, for chains that adapt alone
    out.push_back(cell(target, 8, "nuts", Adaptation::frozen));
  }
  return out;
}

SettingTexts target_settings(const std::string& target, Index dim) {
  return {{"dim", std::to_string(dim)},
          {"twist", target == "pi3"   ? "0.03"
                    : target == "pi4" ? "0.1"
                                      : "0"},
          {"rotated", target == "pi2" ? "yes" : "no"}};
}

std::string known_reason(const Cell& cell, Figure figure, bool deviation) {
  // Readings of the text that were tried, 60 runs each: C_0 = C_u for all samplers; AM with initial periods of 10 and
  // 1000 and with sigma_0 in place of 2.4/sqrt(d); M-GaA steered to 0.234; M-CMA with success targets of 2/11 and 0.1,
  // with sigma held at 1, and without the scaling to determinant 1. `cma` below: of M-CMA's mean on pi3, 300 runs.
  static const std::string
      few_far =
          "The printed deviation of this distance is larger than what any reading of the text gave (0.7 to 1.2 on "
          "pi3, 1.2 to 1.5 on pi4), and on pi3 larger than its mean: a few of their runs must have been far off, "
          "and none of ours is.",
      gaussian_adaptation =
          "No reading tried comes below 3.0: C_0 = C_u gives 4.2, steering to 0.234 in place of 1/e 3.1.",
      cma =
          "It is not a number of the printed protocol. A chain of this length cannot be so near: 20 000 iterations "
          "give 2.3, 50 000 1.7, 100 000 1.5, and with half of 10 000 every reading and every setting lies between "
          "2.5 and 7.5: C_0 = C_u, success targets from 0.05 to 0.234, sigma held at 1, C not scaled to determinant"
          " 1, rates of C from 0.001 and of the path up to 1, no change of C on rejection or above a success of "
          "0.44, improvements alone as successes, steps not divided by sigma, candidates in place of steps (1.5, "
          "with 23 points too many inside 68.3 %). A twist of 0.01 in place of 0.03 gives 1.3 (and AM 1.0, printed "
          "1.35).",
      cma_spread =
          "It goes with the mean. Distances of mean 1.27 and deviation 2.34 are those of a hundred runs of which "
          "about 95 are as near as M-CMA gets without any twist (0.74 on pi1) and five are 11 away; of ours 0.3 % "
          "are that far.",
      success =
          "It hangs on the success target, which the paper does not print: 2/11 gives +2.6 (pi3) and +4.4 (pi4), "
          "0.1 gives -1.5 and +0.7, and the printed numbers lie between.",
      length =
          "It falls as steps get longer: with sigma_0 = 1 in place of 2.4/sqrt(8) it is +2.8 (pi3) and +4.0 (pi4); "
          "the paper does not print the factor.",
      far_runs =
          "MH has single runs that stay in one arm; theirs had more of them, or one further out: with C_0 = I, the "
          "other reading, it is 5.6.",
      length_99 =
          "Printed without a sign. Ours is negative, too few draws far out, as in every reading that was tried; it "
          "moves with the length of the steps, between -0.1 and -0.5.",
      tail = "A deviation of shares of one per cent hangs on the two or three runs of a hundred that stay far out.";
  const struct {
    const char *target, *name;
    Figure figure;
    bool deviation;
    const std::string& reason;
  } known[] = {
      {"pi4", "MH", mean_error, true, far_runs},   {"pi3", "M-GaA", region_99, false, length_99},
      {"pi4", "AM", region_99, false, length_99},  {"pi3", "AM", mean_error, true, few_far},
      {"pi4", "AM", mean_error, true, few_far},    {"pi3", "M-GaA", mean_error, false, gaussian_adaptation},
      {"pi3", "M-CMA", mean_error, false, cma},    {"pi3", "M-CMA", mean_error, true, cma_spread},
      {"pi3", "M-CMA", region_68, false, success}, {"pi4", "M-CMA", region_68, false, success},
      {"pi3", "AM", region_68, false, length},     {"pi4", "AM", region_68, false, length},
      {"pi4", "M-GaA", region_99, true, tail},     {"pi4", "M-CMA", region_99, true, tail},
  };
  for (const auto& k : known)
    if (cell.target == k.target && cell.name == k.name && figure == k.figure && deviation == k.deviation)
      return k.reason;
  return "";
}

}  // namespace kilochain::milgo
