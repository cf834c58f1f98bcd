/* A C program: runs a density of its own, stops a run, resumes one, reads a file. Prints what it finds; 0 when all is well. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kilochain/c.h"

static int density(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  const double mean = *(const double*)user_data;
  *lp = 0;
  for (size_t i = 0; i < n; ++i) {
    *lp -= (x[i] - mean) * (x[i] - mean) / 2;
    gradient[i] = mean - x[i];
  }
  return 0;
}

static int stops_sampling(const char* phase, long long done, long long total, void* user_data) {
  (void)done, (void)total, (void)user_data;
  return strcmp(phase, "sampling") == 0;
}

static volatile int may_return = 0;
static int waits(size_t n, const double* x, double* gradient, double* lp, void* user_data) {
  while (!may_return) {
  }
  return density(n, x, gradient, lp, user_data);
}

static int failures = 0;
static void expect(int ok, const char* what, const kilochain_run* run) {
  if (ok) return;
  ++failures;
  printf("failed: %s (%s)\n", what, kilochain_message(run));
}

int main(int argc, char** argv) {
  const char* const file = argc > 1 ? argv[1] : "small.nc";
  double mean = 3;
  const char* const names[] = {"a", "b"};
  kilochain_run* run = kilochain_create();
  expect(kilochain_set_density(run, density, 2, names, &mean) == 0, "set a density", run);
  expect(kilochain_set(run, "num_chains", "8") == 0, "set", run);
  kilochain_set(run, "sampler", "nuts"), kilochain_set(run, "adapt_scope", "chain");
  kilochain_set(run, "num_warmup", "200"), kilochain_set(run, "num_samples", "400");
  kilochain_set(run, "output", file);
  kilochain_set(run, "overwrite", "yes");
  expect(kilochain_sample(run) == 0, "sample", run);
  expect(kilochain_num_chains(run) == 8 && kilochain_num_draws(run) == 400 && kilochain_num_values(run) == 2, "sizes",
         run);
  expect(strcmp(kilochain_name(run, 1), "b") == 0 && kilochain_name(run, 2) == NULL, "names", run);
  expect(fabs(kilochain_figure(run, 0, "mean") - mean) < 5 * kilochain_figure(run, 0, "mcse_mean"), "mean", run);
  expect(isnan(kilochain_figure(run, 0, "none")) && isnan(kilochain_figure(run, 0, NULL)), "an unknown figure", run);
  const double* x = kilochain_draws(run);
  for (size_t k = 0; k < 8 * 400; ++k) {
    const double a = x[2 * k] - mean, b = x[2 * k + 1] - mean;
    if (fabs(kilochain_lp(run)[k] + (a * a + b * b) / 2) > 1e-12) {
      expect(0, "lp of each draw", run);
      break;
    }
  }
  const double last = x[2 * 8 * 400 - 1];

  kilochain_set(run, "num_samples", "600");
  expect(kilochain_resume(run, file) == 0, "resume", run);
  expect(kilochain_num_draws(run) == 600, "draws of a run that was resumed", run);
  expect(kilochain_draws(run)[2 * (7 * 600 + 399) + 1] == last, "its first draws", run);

  kilochain_run* reader = kilochain_create();
  expect(kilochain_read(reader, file) == 0 && kilochain_num_draws(reader) == 600, "read", reader);
  expect(kilochain_draws(reader)[5] == kilochain_draws(run)[5], "draws that were read", reader);
  expect(kilochain_read(reader, "no such file") == 3 && kilochain_message(reader)[0] != 0, "a file that is not there",
         reader);
  kilochain_free(reader);

  kilochain_run* stopped = kilochain_create();
  kilochain_set_density(stopped, density, 2, NULL, &mean);
  kilochain_set(stopped, "num_warmup", "50"), kilochain_set(stopped, "num_samples", "10000000");
  kilochain_set(stopped, "num_chains", "4"), kilochain_set(stopped, "draws", "moments");
  kilochain_set_progress(stopped, stops_sampling, NULL);
  expect(kilochain_sample(stopped) == 130, "stop", stopped);
  kilochain_set_progress(stopped, NULL, NULL);
  kilochain_stop(stopped);
  expect(kilochain_sample(stopped) == 130, "a stop before the run", stopped);
  kilochain_set(stopped, "num_samples", "100");
  expect(kilochain_sample(stopped) != 130, "a stop is of one run", stopped);
  expect(kilochain_set(stopped, "num_chain", "4") == 0 && kilochain_sample(stopped) == 2, "an unknown key", stopped);
  printf("%s\n", kilochain_message(stopped));
  kilochain_run* waiting = kilochain_create();
  kilochain_set_density(waiting, waits, 2, NULL, &mean);
  expect(kilochain_set(waiting, "call_seconds", "0.2") == 0 && kilochain_sample(waiting) == 3, "a limit for a call", waiting);
  printf("%s\n", kilochain_message(waiting));
  may_return = 1;
  kilochain_free(waiting), kilochain_free(stopped), kilochain_free(run);
  kilochain_free(NULL);
  return failures;
}
