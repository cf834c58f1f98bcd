#include "targets/stan/stan_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string_view>

#include "base/error.hpp"

namespace kilochain {

std::vector<double> place_between(double low, double high, Index dim, std::size_t number) {
  std::vector<double> x(static_cast<std::size_t>(dim));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = low + (high - low) * std::fmod(0.5 + 0.618033988749895 * double(number * 31 + i), 1);
  return x;
}

namespace {

constexpr int interface_version = 2;

/// What print statements write: the first lines to standard error, where a program's words go, and then nothing.
void print(const char* text, std::size_t size) {
  constexpr std::size_t most = 4000;
  static std::atomic<std::size_t> printed{0};
  const std::size_t before = printed.fetch_add(size);
  if (before >= most) return;
  std::fwrite(text, 1, size, stderr);
  if (before + size >= most) std::fputs("\nkilochain: the Stan program prints on; no more of it is shown\n", stderr);
}

}  // namespace

/// The part of the interface that is used here.
struct StanModel::Functions {
  bs_model* (*construct)(const char* data, unsigned seed, char** error);
  void (*destruct)(bs_model*);
  void (*free_error)(char*);
  const char* (*info)(const bs_model*);
  const char* (*names)(const bs_model*, bool transformed, bool generated);
  int (*num)(const bs_model*, bool transformed, bool generated);
  int (*num_unconstrained)(const bs_model*);
  decltype(StanModel::log_density_) log_density;
  decltype(StanModel::gradient_) gradient;
  int (*constrain)(const bs_model*, bool transformed, bool generated, const double* x, double* values, bs_rng*,
                   char** error);
  int (*unconstrain)(const bs_model*, const double* values, double* x, char** error);
  bs_rng* (*make_rng)(unsigned seed, char** error);
  void (*destroy_rng)(bs_rng*);
  int (*set_print)(void (*)(const char*, std::size_t), char** error);
  long (*steps)();  ///< null, both: not a library of `kilochain stan compile`
  void (*most_steps)(bs_model*, long);

  explicit Functions(const SharedObject& library) {
    const auto take = [&](auto& function, const char* name) {
      function = library.function<std::remove_pointer_t<std::remove_reference_t<decltype(function)>>>(
          name, "Is it a Stan program's, made by `kilochain stan compile` or by BridgeStan 2?");
    };
    const void* const version = library.find("bs_major_version");
    require(!version || *static_cast<const int*>(version) == interface_version, ExitStatus::usage,
            library.path() + ": the library has another interface version",
            "BridgeStan " + std::to_string(version ? *static_cast<const int*>(version) : 0) + ", not " +
                std::to_string(interface_version),
            "Compile the program again, with `kilochain stan compile` or BridgeStan 2?");
    take(construct, "bs_model_construct");
    take(destruct, "bs_model_destruct");
    take(free_error, "bs_free_error_msg");
    take(info, "bs_model_info");
    take(names, "bs_param_names");
    take(num, "bs_param_num");
    take(num_unconstrained, "bs_param_unc_num");
    take(log_density, "bs_log_density");
    take(gradient, "bs_log_density_gradient");
    take(constrain, "bs_param_constrain");
    take(unconstrain, "bs_param_unconstrain");
    take(make_rng, "bs_rng_construct");
    take(destroy_rng, "bs_rng_destruct");
    take(set_print, "bs_set_print_callback");
    steps = reinterpret_cast<decltype(steps)>(library.find("kilochain_steps"));
    most_steps = reinterpret_cast<decltype(most_steps)>(library.find("kilochain_most_steps"));
  }
  /// The error's text, which is freed.
  std::string text_of(char* error) const {
    const std::string text = error ? error : "it does not say why";
    if (error) free_error(error);
    return text;
  }
};

StanModel::StanModel(const SharedObject& library, const std::string& data, const std::string& data_path)
    : path_(library.path()),
      call_(std::make_unique<const Functions>(library)),
      gradient_(call_->gradient),
      log_density_(call_->log_density),
      gradients_(reinterpret_cast<decltype(gradients_)>(library.find("kilochain_gradients"))) {
  call_->set_print(print, nullptr);
  char* error = nullptr;
  model_ = call_->construct(data.c_str(), 1, &error);
  if (!model_)
    throw Error(ExitStatus::data,
                data_path.empty() ? library.path() + ": the Stan program wants data"
                                  : data_path + ": the Stan program does not take these data",
                call_->text_of(error), data_path.empty() ? "Give --data FILE.json?" : "Are all of its data there?");
  dim_ = static_cast<Index>(call_->num_unconstrained(model_));
}

StanModel::~StanModel() { call_->destruct(model_); }

bool StanModel::threads() const {
  return std::string_view(call_->info(model_)).find("STAN_THREADS=true") != std::string_view::npos;
}

std::string StanModel::names(bool transformed, bool generated) const {
  const std::string names = call_->names(model_, transformed, generated);
  const auto count = names.empty() ? 0 : 1 + std::count(names.begin(), names.end(), ',');
  const int values = call_->num(model_, transformed, generated);
  require(values == count, ExitStatus::data, path_ + ": the library does not know how many parameters it has",
          fmt::format("{} values, {} names, with these data", values, count),
          "Are library and data of one program? Compile it again?");
  return names;
}

std::string StanModel::text_of(char* error) const { return call_->text_of(error); }

std::string StanModel::text_of(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return std::string("it threw: ") + e.what();
  } catch (...) {
    return "it threw";
  }
}

void StanModel::gives_up(bool does) const {
  constexpr long least = 30'000, times = 30;
  if (!call_->steps || !call_->most_steps) return;
  if (does && most_steps_ == 0) {
    std::vector<double> gradient(static_cast<std::size_t>(dim_));
    std::array<long, 5> made;
    for (std::size_t k = 0; k < made.size(); ++k) {
      double lp;
      std::string why;
      evaluate(place_between(-1, 1, dim_, k).data(), &lp, gradient.data(), why);
      made[k] = call_->steps();
    }
    std::ranges::nth_element(made, made.begin() + made.size() / 2);
    most_steps_ = std::max(least, times * made[made.size() / 2]);
  }
  call_->most_steps(model_, does ? most_steps_ : std::numeric_limits<long>::max());
}

bool StanModel::constrain(const double* x, bool transformed, bool generated, std::uint32_t seed, double* values,
                          std::string& why) const {
  char* error = nullptr;
  bs_rng* const rng = generated ? call_->make_rng(seed, nullptr) : nullptr;
  const int status = call_->constrain(model_, transformed, generated, x, values, rng, &error);
  if (rng) call_->destroy_rng(rng);
  if (status != 0) why = call_->text_of(error);
  return status == 0;
}

bool StanModel::unconstrain(const double* values, double* x) const {
  char* error = nullptr;
  if (call_->unconstrain(model_, values, x, &error) == 0) return true;
  call_->text_of(error);
  return false;
}

}  // namespace kilochain
