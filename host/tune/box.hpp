// The box that a tuner looks for settings in: named ranges, linear or logarithmic, of real or whole numbers.
//   linear: value = low + u (high - low);   log: value = low (high/low)^u;   whole: rounded to the nearest
// A point of the unit cube has coordinates u; models see the cube alone, so that a length-scale is a share of a range.
#pragma once
#include <string>
#include <vector>

namespace kilochain {

/// Coordinates in the unit cube, or values in a box, one for each dimension.
using Point = std::vector<double>;

struct Dimension {
  std::string name;
  double low = 0, high = 1;
  bool log = false;    ///< even in the logarithm
  bool whole = false;  ///< integers alone
};

class Box {
 public:
  /// Throws Error (usage) for no dimension, a name given twice, bounds that are not finite or not in order, a log scale
  /// with a bound <= 0, and a whole dimension with a bound that is none.
  explicit Box(std::vector<Dimension> dimensions);
  std::size_t size() const { return dimensions_.size(); }
  const std::vector<Dimension>& dimensions() const { return dimensions_; }
  /// Values at a point of the cube; what lies outside is taken to its edge.
  Point values(const Point& unit) const;
  /// The point of the cube where these values lie.
  Point unit(const Point& values) const;
  /// A grid of `count` values of each dimension, evenly spaced in its scale; of a whole dimension no more than it
  /// has, each once. Last dimension fastest.
  std::vector<Point> grid(std::size_t count) const;
  /// The values of one dimension of that grid.
  std::vector<double> axis(std::size_t dimension, std::size_t count) const;

 private:
  std::vector<Dimension> dimensions_;
};

}  // namespace kilochain
