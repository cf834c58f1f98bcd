/* What C programs include, and others through C: a density is a function of yours. Every double array is yours or ours
   as said; strings are UTF-8 and end in 0. Nothing throws across these functions. */
#ifndef KILOCHAIN_C_H
#define KILOCHAIN_C_H
#include <stddef.h>

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* The log density at x (n numbers) goes to *lp and its gradient to gradient (n numbers, never null). Returns 0 for a
   value; anything else says that there is none, and the point is rejected. Several threads call it side by side. */
typedef int (*kilochain_density)(size_t n, const double* x, double* gradient, double* lp, void* user_data);

/* The same of many points in one call: that of chain k begins at x[k * row], its gradient at gradient[k * row], and its
   value is lp[k]: -INFINITY where there is none; anything but 0 rejects all of them. One thread calls it at a time. */
typedef int (*kilochain_density_of_chains)(size_t chains, size_t n, const double* x, size_t row, double* gradient,
                                           double* lp, void* user_data);

/* The same on a CUDA device: x, gradient and lp point to its memory, stream is a cudaStream_t. The work is queued on
   that stream, in its order, and nothing waits for it. Points that no chain wants may be among them. Anything but 0
   rejects all of them. */
typedef int (*kilochain_density_on_device)(size_t chains, size_t n, const double* x, size_t row, double* gradient,
                                           double* lp, void* stream, void* user_data);

/* A run in words and numbers: what it is to do, then what came of it. One thread at a time uses one of them, except
   kilochain_stop. Functions that can fail return 0, or one of the program's exit statuses (2: usage, 3: data, 4: chains
   were quarantined, 5: output, 6: not converged, 9: out of time, 130: stopped); kilochain_message then says why. */
typedef struct kilochain_run kilochain_run;

const char* kilochain_version(void);

kilochain_run* kilochain_create(void); /* null: no memory */
void kilochain_free(kilochain_run* run);

/* A flag of `kilochain sample`, without dashes in front: ("num_chains", "64"), ("target", "stan"). */
int kilochain_set(kilochain_run* run, const char* key, const char* value);
/* A density of yours in place of a target; user_data is handed on to each call. names: n of them, or null. */
int kilochain_set_density(kilochain_run* run, kilochain_density density, size_t n, const char* const* names,
                          void* user_data);
int kilochain_set_density_of_chains(kilochain_run* run, kilochain_density_of_chains density, size_t n,
                                    const char* const* names, void* user_data);
/* Runs need a CUDA device then. */
int kilochain_set_density_on_device(kilochain_run* run, kilochain_density_on_device density, size_t n,
                                    const char* const* names, void* user_data);
/* Called at most every 0.2 seconds, and where a phase ends or its stage changes, with the phase ("warm-up" or
   "sampling"), the iterations done and those wanted (0: not known). Anything but 0 stops the run, which keeps what it
   has. */
typedef int (*kilochain_progress)(const char* phase, long long done, long long total, void* user_data);
int kilochain_set_progress(kilochain_run* run, kilochain_progress progress, void* user_data);

/* Warms up and samples. Draws are kept in memory, and in a file where "output" is set. */
int kilochain_sample(kilochain_run* run);
/* Resumes the run that wrote the file `path`: "num_samples" counts its draws too. A density of yours is set before. */
int kilochain_resume(kilochain_run* run, const char* path);
/* Asks the run under way, or else the next one, to end soon: from any thread, and from a signal handler. */
void kilochain_stop(kilochain_run* run);
/* Takes draws and summary from a file that a run has written. */
int kilochain_read(kilochain_run* run, const char* path);

/* What went wrong last, in words; "" when nothing did. Valid until the next call. */
const char* kilochain_message(const kilochain_run* run);

/* After a run, a resumed run or a file that was read: */
size_t kilochain_num_chains(const kilochain_run* run);
size_t kilochain_num_draws(const kilochain_run* run);  /* of each chain */
size_t kilochain_num_values(const kilochain_run* run); /* of each draw */
const char* kilochain_name(const kilochain_run* run, size_t value);
/* [chain, draw, value], NaN of chains that were quarantined; lp: [chain, draw]. Valid until another run or read. */
const double* kilochain_draws(const kilochain_run* run);
const double* kilochain_lp(const kilochain_run* run);
/* "mean", "sd", "mcse_mean", "q05", "q50", "q95", "ess_bulk", "ess_tail" or "rhat"; NaN for another word. */
double kilochain_figure(const kilochain_run* run, size_t value, const char* figure);
/* The summary as `kilochain sample --json` prints it; notes that a user should read, a line each. */
const char* kilochain_summary(const kilochain_run* run);
const char* kilochain_notes(const kilochain_run* run);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif
