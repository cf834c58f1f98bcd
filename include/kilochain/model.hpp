// What a model of another project includes: parameters with constraints, densities, automatic differentiation.
#pragma once
#include "model/densities.hpp"
#include "model/dynamics.hpp"
#include "model/model.hpp"
