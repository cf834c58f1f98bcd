// From the settings to a target: library, data, names, and what is recorded of a draw.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/inputs.hpp"
#include "targets/data/bytes.hpp"
#include "targets/external/external_target.hpp"
#include "targets/stan.hpp"
#include "targets/stan/compile.hpp"
#include "targets/stan/stan_model.hpp"
#include "targets/stan/stan_names.hpp"

namespace kilochain {
namespace {

/// 32 bits from a run's seed, a chain and a draw, all of which count (Steele, Lea and Flood's mixing of 64 bits).
std::uint32_t seed_of(const DrawId& draw) {
  std::uint64_t bits = 0;
  for (const std::uint64_t part :
       {draw.seed, static_cast<std::uint64_t>(draw.chain), static_cast<std::uint64_t>(draw.draw)}) {
    bits += part + 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    bits ^= bits >> 31;
  }
  return static_cast<std::uint32_t>(bits >> 32);
}

/// Records draws of a program in the order and the shapes that a file of draws has.
class RecordedQuantities {
 public:
  RecordedQuantities(std::shared_ptr<const StanModel> model, StanRecord record)
      : model_(std::move(model)),
        transformed_(record != StanRecord::parameters),
        generated_(record == StanRecord::all),
        names_(stan_names(model_->names(transformed_, generated_))) {
    generated_ = generated_ && model_->names(true, true) != model_->names(true, false);
  }
  const StanNames& names() const { return names_; }
  /// Those that are no generated quantities come first.
  std::size_t num_parameters() const { return stan_names(model_->names(transformed_, false)).names.size(); }

  void operator()(const double* x, const DrawId& draw, double* recorded) {
    thread_local std::vector<double> values;
    thread_local std::string why;
    // What Stan does not reach before it throws has no value.
    values.assign(names_.names.size(), std::numeric_limits<double>::quiet_NaN());
    if (!model_->constrain(x, transformed_, generated_, seed_of(draw), values.data(), why)) {
      failures_.add(why);
      values.assign(names_.names.size(), std::numeric_limits<double>::quiet_NaN());
      model_->constrain(x, false, false, 0, values.data(), why);
    }
    for (std::size_t k = 0; k < values.size(); ++k) recorded[k] = values[names_.source[k]];
  }

  /// Names of values that are the same wherever they are recorded: zeros of a Cholesky factor.
  std::vector<std::string> fixed(Index dim) {
    constexpr int places = 8;
    std::vector<double> first(names_.names.size()), other(first);
    std::vector<char> same(first.size(), 1);
    for (int place = 0; place < places; ++place) {
      const std::vector<double> x = place_between(-1, 1, dim, place);
      other.assign(other.size(), 0);
      (*this)(x.data(), {1, place, static_cast<std::int64_t>(place)}, other.data());
      if (place == 0) first = other;
      for (std::size_t k = 0; k < same.size(); ++k)
        same[k] = same[k] && (first[k] == other[k] || (std::isnan(first[k]) && std::isnan(other[k])));
    }
    std::vector<std::string> out;
    for (std::size_t k = 0; k < same.size(); ++k)
      if (same[k]) out.push_back(names_.names[k]);
    failures_.forget();
    return out;
  }

  std::vector<std::string> notes() const {
    return failures_.notes("draws have parameters alone: their other quantities failed");
  }

 private:
  std::shared_ptr<const StanModel> model_;
  bool transformed_, generated_;
  StanNames names_;
  Rejections failures_;
};

std::shared_ptr<const ParameterValues> parameters_of(const std::shared_ptr<const StanModel>& model) {
  const StanNames names = stan_names(model->names(false, false));
  auto out = std::make_shared<ParameterValues>();
  out->variables = names.variables;
  out->of_point = [model, source = names.source](const double* x, double* to) {
    std::vector<double> values(source.size());
    std::string why;
    model->constrain(x, false, false, 0, values.data(), why);
    for (std::size_t k = 0; k < source.size(); ++k) to[k] = values[source[k]];
  };
  out->to_point = [model, source = names.source](const double* from, double* x) {
    std::vector<double> values(source.size());
    for (std::size_t k = 0; k < source.size(); ++k) values[source[k]] = from[k];
    return model->unconstrain(values.data(), x);
  };
  return out;
}

SharedObject library_of(const std::string& model) {
  if (!model.ends_with(".stan")) return SharedObject(model);
  const std::string library = stan::compiled(model);
  try {
    return SharedObject(library);
  } catch (const Error&) {  // there may be no room left for threads' memory
    return SharedObject(stan::compiled(model, stan::Room::any));
  }
}

/// Empty text is no data: a program without data takes an empty object as well.
std::shared_ptr<const StanModel> load(const StanSettings& s, const Context& context) {
  require(!s.model.empty(), ExitStatus::usage, "target stan has no program", "model is not set",
          "Give --model FILE.stan, or a library that was made of it?");
  const SharedObject library = library_of(s.model);
  note_file(s.model);  // the program, which may be compiled anew
  auto model = std::make_shared<const StanModel>(library, s.data.empty() ? "" : read_bytes(s.data), s.data);
  require(model->threads() || context.threads == 1, ExitStatus::usage,
          s.model + ": the library was compiled without STAN_THREADS",
          fmt::format("its density cannot be called by {} threads side by side", context.threads),
          "Run with --threads 1, or compile it with STAN_THREADS=true?");
  require(model->dim() > 0, ExitStatus::usage, s.model + ": the program has no parameters",
          "0 unconstrained parameters", "There is nothing to sample");
  return model;
}

}  // namespace

template <class Real>
std::unique_ptr<Target<Real>> Stan<Real>::make_cpu(const Context& context, const StanSettings& s) {
  const auto model = load(s, context);
  const auto recording = std::make_shared<RecordedQuantities>(model, s.record);
  TargetInfo info;
  info.dim = model->dim();
  info.names = recording->names().names;
  info.variables = recording->names().variables;
  info.num_deciding = recording->num_parameters();
  info.fixed = recording->fixed(info.dim);
  info.offers = Needs::gradient;
  info.constrain = [recording](const double* x, const DrawId& draw, double* values) { (*recording)(x, draw, values); };
  info.parameters = parameters_of(model);
  info.gives_up = [model](bool does) { model->gives_up(does); };
  info.notes = [recording] { return recording->notes(); };
  return std::make_unique<ExternalTarget<Real, StanModel>>(s.model, model, std::move(info), s.call_seconds);
}

template struct Stan<float>;
template struct Stan<double>;

}  // namespace kilochain
