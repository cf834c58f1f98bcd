// What a sampler of another project includes: the contract, and what samplers share that learn a step, a factor
// or a mass.
#pragma once
#include "kernels/adapt/acceptance_step.hpp"
#include "kernels/adapt/cholesky_gradient.hpp"
#include "kernels/adapt/mass_and_step.hpp"
#include "kernels/iteration.hpp"
#include "kernels/sampler_concept.hpp"
