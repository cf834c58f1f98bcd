// What the figures of the chains mean, in words: the findings of a diagnosis, gravest first.
#pragma once
#include "host/report/diagnosis.hpp"

namespace kilochain {

void add_findings(Diagnosis& diagnosis);

/// The verdict of the run, in one sentence, and what to do next.
struct NextStep {
  std::string verdict, advice;
};
NextStep next_step(const Diagnosis& diagnosis);

}  // namespace kilochain
