// What a program includes to run samplers and to have draws and diagnostics in memory: kilochain::Options, run, Result.
#pragma once
#include "host/run/run.hpp"
