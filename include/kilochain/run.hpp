// What a program includes to run samplers and to have draws and diagnostics in memory: kilochain::Options, run, Result;
// and OwnTarget, for a density of its own.
#pragma once
#include "host/registry/own_target.hpp"
#include "host/run/run.hpp"
