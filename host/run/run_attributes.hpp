// What a file of draws says of its run beside its header, once the run has ended: one table that is written and read.
#pragma once
#include <nlohmann/json.hpp>

#include "host/run/run_summary.hpp"

namespace kilochain {

/// Writes each field of a table into a JSON object; an optional one where it has a value.
struct WriteFields {
  nlohmann::json& out;
  template <class T>
  void operator()(const char* name, const T& value) const {
    if constexpr (requires { value.has_value(); }) {
      if (value) out[name] = *value;
    } else {
      out[name] = value;
    }
  }
};

/// visit(attribute, field); `Summary`: RunSummary or const RunSummary.
template <class Visitor, class Summary>
void visit_attributes(const Visitor& visit, Summary& s) {
  visit("sampling_time", s.seconds_sampling);
  visit("warmup_time", s.seconds_warmup);
  visit("gradient_evaluations", s.gradient_evaluations);
  visit("num_divergences", s.divergences);
  visit("num_warmup", s.num_warmup);
  visit("num_samples", s.num_samples);
  visit("superchains", s.superchains);
  visit("device", s.device);
  visit("acceptance_rate_per_chain_q50", s.acceptance_q50);
  visit("warmup_converged", s.warmup_converged);
  visit("warmup_note", s.warmup_note);
  visit("derived", s.derived);
  visit("flat_along", s.flat);
  visit("equal_modes", s.equal_modes);
  visit("unequal_modes", s.unequal_modes);
}

}  // namespace kilochain
