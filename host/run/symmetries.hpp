// Maps of points that leave the posterior as it is: components of a mixture, states of a hidden Markov model or factors
// that change places; coefficients that change sign together. The posterior has as many places alike as there are
// products of such maps, and a chain that never goes from one to the other samples it all the same: warm-ups gather
// chains in one place, and of each draw one of its images is recorded, any as often as the others (Jasra, Holmes and
// Stephens 2005; Fruehwirth-Schnatter 2001 swaps labels at random in the chain itself). So means and quantiles are the
// posterior's, all of it.
// A product is one map, or none, of each stage: of Fisher and Yates's shuffle of K labels, of a change of signs.
// Cost: of a draw one map for each stage. Where several coordinates make a value, as in a simplex, that is the
// parameters of a point and back.
#pragma once
#include <array>
#include <span>

#include "targets/target.hpp"

namespace kilochain {

/// Is its own inverse.
struct Swap {
  using Pairs = std::vector<std::array<std::size_t, 2>>;
  Pairs values;                    ///< of parameters that change places, pair after pair
  Pairs coordinates;               ///< that do so then
  std::vector<std::size_t> signs;  ///< of coordinates, which change in the end
};

class Symmetries {
 public:
  using Stage = std::vector<Swap>;

  Symmetries() = default;
  /// reference: (dim), a point in the place where chains gather. info outlives this.
  Symmetries(const TargetInfo& info, std::vector<Stage> stages, std::vector<double> reference);
  bool any() const { return !stages_.empty(); }
  /// How many places are alike.
  double images() const;
  /// x (dim) becomes its image, in place; it stays where that is no point.
  void apply(const Swap& swap, double* x) const;
  /// One of all images, each as often.
  void at_random(double* x, const DrawId& draw) const;
  /// The image that is nearest to the reference, as far as single swaps come nearer; the swaps that led there.
  std::vector<const Swap*> gather(double* x) const;
  /// In words, for people.
  std::string told() const;
  /// For the state of a run, and back.
  std::vector<double> to_numbers() const;
  static Symmetries of_numbers(const TargetInfo& info, const std::vector<double>& numbers);

 private:
  double distance(const double* x) const;
  const TargetInfo* info_ = nullptr;
  std::vector<Stage> stages_;
  std::vector<double> reference_;
};

}  // namespace kilochain
