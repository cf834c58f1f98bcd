// A Stan program with its data, through BridgeStan's C interface (version 2) of a shared library, which BridgeStan or
// `kilochain stan compile` has made. Densities are those of the unconstrained parameters, Jacobians included, without
// their constants. Calls may come from any thread where the library was compiled with STAN_THREADS.
#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "targets/external/external_target.hpp"
#include "targets/external/shared_object.hpp"

struct bs_model;
struct bs_rng;

namespace kilochain {

/// A low-discrepancy point (dim) of the cube from `low` to `high`: the same in every run.
std::vector<double> place_between(double low, double high, Index dim, std::size_t number);

class StanModel {
 public:
  /// data: JSON, or empty. Throws an Error (usage) for a library that has not this interface, and (data) with Stan's
  /// words for data that the program refuses.
  StanModel(const SharedObject& library, const std::string& data, const std::string& data_path);
  ~StanModel();
  StanModel(const StanModel&) = delete;

  Index dim() const { return dim_; }
  bool threads() const;  ///< whether threads may call side by side
  /// Names as Stan has them; transformed parameters and generated quantities with them. Throws an Error (data) where
  /// they are not as many as the values.
  std::string names(bool transformed, bool generated) const;
  /// An ExternalDensity.
  bool evaluate(const double* x, double* lp, double* gradient, std::string& why) const noexcept {
    char* error = nullptr;
    try {
      const int status = gradient ? gradient_(model_, true, true, x, lp, gradient, &error)
                                  : log_density_(model_, true, true, x, lp, &error);
      if (status == 0) [[likely]]
        return true;
      why = text_of(error);
    } catch (...) {  // of a library that leaves exceptions to others
      why = text_of(std::current_exception());
    }
    return false;
  }
  /// Whether the library has gradients of many points in one call, as those of `kilochain stan compile` have.
  bool many() const { return gradients_ != nullptr; }
  /// An ExternalDensity's of many points: where many().
  int evaluate(int points, std::size_t row, const double* x, double* lp, double* gradient, void (*next)(void*),
               void* watch, std::string& why) const noexcept {
    char* error = nullptr;
    const int found = gradients_(model_, points, row, x, lp, gradient, next, watch, &error);
    if (found < points) why = text_of(error);
    return found;
  }
  /// From now on a call ends without a value where it makes a hundred times as many calls of the program's functions as
  /// calls usually do, 100 000 at least; false: never again. Libraries of BridgeStan take no notice.
  void gives_up(bool does) const;
  /// The values of names(transformed, generated); `seed` is that of the generated quantities. False: `why` says why.
  bool constrain(const double* x, bool transformed, bool generated, std::uint32_t seed, double* values,
                 std::string& why) const;
  /// From the values of names(false, false) to the point (dim). False where there is none.
  bool unconstrain(const double* values, double* x) const;

 private:
  struct Functions;
  std::string text_of(char* error) const;
  static std::string text_of(std::exception_ptr thrown);

  std::string path_;
  std::unique_ptr<const Functions> call_;
  int (*gradient_)(const bs_model*, bool propto, bool jacobian, const double* x, double* lp, double* gradient,
                   char** error);
  int (*log_density_)(const bs_model*, bool propto, bool jacobian, const double* x, double* lp, char** error);
  int (*gradients_)(const bs_model*, int points, std::size_t row, const double* x, double* lp, double* gradient,
                    void (*next)(void*), void* watch, char** error);
  mutable long most_steps_ = 0;  ///< of a call that may give up, 0: not known yet
  bs_model* model_ = nullptr;
  Index dim_ = 0;
};

}  // namespace kilochain
