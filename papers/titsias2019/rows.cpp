#include "papers/titsias2019/rows.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "host/registry/registry.hpp"
#include "host/statistics/ess.hpp"
#include "host/statistics/ranks.hpp"
#include "papers/titsias2019/agreement.hpp"

namespace kilochain::titsias2019 {
namespace {

constexpr double memory_limit = 2e9;  ///< bytes of draws; more repeats than fit run in turns

template <class Real>
Repeat repeat_of(const Repeats<Real>& chains, Index chain, Index dim) {
  std::vector<double> ess;
  for (Index i = 0; i < dim; ++i) {
    const std::vector<double> x = chains.draws(chain, i);
    const double value = ess_paper(x.data(), std::ssize(x));
    ess.push_back(std::isfinite(value) ? value : 1.0);  // a coordinate that never moved
  }
  std::sort(ess.begin(), ess.end());
  return {chains.acceptance(chain), ess.front(), quantile_of_sorted(ess.data(), std::ssize(ess), 0.5), ess.back()};
}

/// Seconds of one repeat alone from a stretch of each phase, by gradients, so that trajectories of any length count.
template <class Real>
double predicted_alone(const Setup& setup, Target<Real>& target, std::uint64_t seed, std::int64_t warmup_gradients,
                       std::int64_t sampling_gradients, const std::atomic<bool>& stop) {
  Repeats<Real> alone(setup, target, 0, 1, seed, stop);
  const std::int64_t stretch = 100;
  alone.warm_up(stretch);
  const double warmup = alone.seconds();
  const auto first = alone.gradients();
  alone.sample_unkept(stretch);
  const auto second = alone.gradients() - first;
  return warmup / std::max<std::int64_t>(1, first) * warmup_gradients +
         (alone.seconds() - warmup) / std::max<std::int64_t>(1, second) * sampling_gradients;
}

template <class Real>
RowResult run_row_in(const PaperRow& row, const Setup& setup, Index num_repeats, std::uint64_t seed,
                     const std::atomic<bool>& stop, const std::function<void(double)>& tick) {
  const Context context = cpu_context(1);  // the target keeps a reference to it
  const auto target = make_target<Real>(context, setup.target, setup.target_settings);
  const Index dim = target->info().dim;
  const double bytes = setup.num_samples * (sizeof(Real) * static_cast<double>(dim) + 32);
  const Index most = static_cast<Index>(std::clamp(memory_limit / bytes, 1.0, static_cast<double>(num_repeats)));
  const double iterations = setup.num_warmup + setup.num_samples;
  const double batches_weight = row.table == 7 ? 1.0 : 0.75;  // of the row's time, alone being the rest

  RowResult out;
  out.row = &row;
  out.printed = setup.printed;
  out.real = setup.real;
  std::int64_t warmup_gradients = 0, sampling_gradients = 0;
  for (Index first = 0; first < num_repeats; first += most) {
    const Index count = std::min<Index>(most, num_repeats - first);
    const Tick share = [&](std::int64_t done) {
      tick(batches_weight * (first + count * done / iterations) / num_repeats);
    };
    Repeats<Real> chains(setup, *target, first, count, seed, stop);
    if (!chains.warm_up(-1, share)) return {};
    warmup_gradients += chains.gradients();
    if (!chains.sample(share)) return {};
    sampling_gradients += chains.gradients();
    out.seconds_batched += chains.seconds() / num_repeats;
    for (Index k = 0; k < count; ++k) out.repeats.push_back(repeat_of(chains, k, dim));
  }
  warmup_gradients /= num_repeats;
  sampling_gradients /= num_repeats;
  out.seconds_predicted = row.table == 7;
  if (out.seconds_predicted) {
    out.seconds = predicted_alone(setup, *target, seed, warmup_gradients, sampling_gradients, stop);
  } else {
    Repeats<Real> alone(setup, *target, 0, 1, seed, stop);
    const Tick share = [&](std::int64_t done) { tick(0.75 + 0.25 * done / iterations); };
    if (!alone.warm_up(-1, share) || !alone.sample(share)) return {};
    out.seconds = alone.seconds();
  }
  return stop ? RowResult{} : out;
}

}  // namespace

Moments moments(const std::vector<Repeat>& repeats, double Repeat::*member) {
  std::vector<double> values;
  for (const Repeat& r : repeats) values.push_back(r.*member);
  return moments_of(Series{values.data(), 1, std::ssize(values)});
}

Moments RowResult::min_ess_per_second() const {
  const Moments m = moments(repeats, &Repeat::ess_min);
  return {m.mean / seconds, m.sd / seconds};
}

RowResult run_row(const PaperRow& row, const Setup& setup, Index num_repeats, std::uint64_t seed,
                  const std::atomic<bool>& stop, const std::function<void(double)>& tick) {
  return setup.real == Precision::single_precision ? run_row_in<float>(row, setup, num_repeats, seed, stop, tick)
                                                   : run_row_in<double>(row, setup, num_repeats, seed, stop, tick);
}

nlohmann::json to_json(const RowResult& r) {
  const auto number = [](double v) { return std::isfinite(v) ? nlohmann::json(v) : nlohmann::json(); };
  const auto of_paper = [&](const Figures& f) -> nlohmann::json {
    if (!std::isfinite(f.seconds)) return {};
    nlohmann::json out = {{"seconds", f.seconds},
                          {"min_ess_per_second", f.min_ess_per_second},
                          {"min_ess_per_second_sd", number(f.min_ess_per_second_sd)}};
    for (const Figure& figure : figures) out[figure.name] = number(f.*figure.theirs);
    return out;
  };
  const Measured& m = r.row->measured;
  nlohmann::json measured = of_paper(m.mean);
  const Moments rate = r.min_ess_per_second();
  nlohmann::json j = {{"source", "titsias2019"},
                      {"table", r.row->table},
                      {"target", r.row->target},
                      {"sampler", r.row->sampler},
                      {"repeats", r.repeats.size()},
                      {"seconds", r.seconds},
                      {"seconds_batched", r.seconds_batched},
                      {"real", name_of(r.real)},
                      {"min_ess_per_second", rate.mean},
                      {"min_ess_per_second_sd", number(rate.sd)},
                      {"published", of_paper(r.row->published)}};
  if (m.repeats > 0) measured["repeats"] = m.repeats;
  for (const Figure& figure : figures) {
    const std::string sd = std::string(figure.name) + "_sd";
    const Moments ours = moments(r.repeats, figure.ours);
    j[figure.name] = ours.mean;
    if (m.repeats > 0) measured[sd] = number(m.*figure.their_sd);
    j[sd] = number(ours.sd);
    for (const Repeat& one : r.repeats) j["per_repeat"][figure.name].push_back(one.*figure.ours);
  }
  j["measured"] = measured;
  j["seconds_predicted"] = r.seconds_predicted;
  j["printed"] = r.printed;
  const Agreement a = agreement_of(*r.row, r.repeats, r.printed);
  j["agrees"] = a.tested ? nlohmann::json(a.deviations.empty()) : nlohmann::json();
  j["findings"] = nlohmann::json::array();
  for (const Deviation& d : a.deviations)
    j["findings"].push_back({{"name", d.name}, {"what", d.text()}, {"z", number(d.z)}, {"reason", d.reason}});
  j["stale"] = a.stale;
  return j;
}

nlohmann::json brief(nlohmann::json row) {
  for (const char* key : {"per_repeat", "seconds_predicted", "printed", "agrees", "findings", "stale"}) row.erase(key);
  for (const Figure& figure : figures) row.erase(std::string(figure.name) + "_sd");
  return row;
}

}  // namespace kilochain::titsias2019
