#!/usr/bin/env python3
"""What the Python side costs: a run of the default on a table beside the command line's, and a round of from_batched.

    PYTHONPATH=build/release/python python3 bench/python_overhead.py ../shared/data/german.csv --kilochain build/release/kilochain

The default: the same run, 1 000 chains, the same seed, alternately; the command line as a process of its own with its
draws kept in no file; the package in this process, from arrays to the finished tree, draws kept. A round: a linear
regression in 25 dimensions by its sufficient statistics, in NumPy through from_batched and in C through from_c; what is
left of their difference when the functions' own times are taken out. One JSON line each.
"""
import argparse
import csv
import ctypes
import json
import os
import statistics
import subprocess
import tempfile
import time
import warnings

import kilochain
import numpy as np

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("table", help="CSV: predictors, then a label of 0 and 1")
parser.add_argument("--kilochain", required=True, help="the program")
parser.add_argument("--turns", type=int, default=7)
a = parser.parse_args()
warnings.simplefilter("ignore")


def seconds(f):
    begun = time.perf_counter()
    f()
    return time.perf_counter() - begun


with open(a.table, encoding="utf-8") as file:
    rows = np.array(list(csv.reader(file))[1:], dtype=float)
X, y = rows[:, :-1], rows[:, -1]
line, package, of_runs = [], [], []
for turn in range(a.turns + 1):
    command = [a.kilochain, "sample", "--target", "logistic_regression", "--data", a.table, "--num-chains", "1000",
               "--seed", str(turn), "--quiet"]
    line.append(seconds(lambda: subprocess.run(command, check=False, stdout=subprocess.DEVNULL)))

    def run():
        tree = kilochain.sample(kilochain.LogisticRegression(X, y), chains=1000, seed=turn, progress=False)
        of_runs.append(tree.attrs["seconds"])

    package.append(seconds(run))
line, package, of_runs = line[1:], package[1:], of_runs[1:]  # the first fills caches
ratios = [p / c for p, c in zip(package, line)]
print(json.dumps({"what": "default", "table": os.path.basename(a.table), "chains": 1000,
                  "command_line_seconds": round(statistics.median(line), 4), "package_seconds": round(statistics.median(package), 4),
                  "of_which_the_run": round(statistics.median(of_runs), 4), "ratio": round(statistics.median(ratios), 4),
                  "ratios": [round(r, 3) for r in sorted(ratios)]}), flush=True)

SOURCE = """
#include <stddef.h>
int density(size_t chains, size_t n, const double* x, size_t row, double* gradient, double* lp, void* data) {
  const double* A = data;
  for (size_t k = 0; k < chains; ++k) {
    const double* p = x + k * row;
    double* g = gradient + k * row;
    for (size_t i = 0; i < n; ++i) g[i] = 0;
    for (size_t j = 0; j < n; ++j)
      for (size_t i = 0; i < n; ++i) g[i] -= A[j * n + i] * p[j];
    lp[k] = 0;
    for (size_t i = 0; i < n; ++i) lp[k] += p[i] * g[i] / 2;
  }
  return 0;
}
"""
dim = 25
Z = np.random.default_rng(1).normal(size=(100, dim))
A = np.ascontiguousarray(Z.T @ Z / 100 + np.eye(dim))
own = [0.0, 0]


def density(x):
    begun = time.perf_counter()
    gradient = x @ -A
    lp = np.einsum("ij,ij->i", x, gradient) / 2
    own[0] += time.perf_counter() - begun
    own[1] += 1
    return lp, gradient


with tempfile.TemporaryDirectory() as folder:
    with open(folder + "/d.c", "w") as out:
        out.write(SOURCE)
    subprocess.run(["gcc", "-O3", "-march=native", "-shared", "-fPIC", folder + "/d.c", "-o", folder + "/d.so"], check=True)
    f = ctypes.CDLL(folder + "/d.so").density
    of_c = kilochain.from_c(ctypes.cast(f, ctypes.c_void_p).value, dim, A.ctypes.data, batched=True)
    for chains in (16, 256):
        found = []
        room = np.zeros((chains, dim)), np.zeros(chains), np.full((chains, dim), 0.1)
        pointers = [ctypes.c_void_p(v.ctypes.data) for v in (room[2], room[0], room[1], A)]
        many = 2000
        one = seconds(lambda: [f(ctypes.c_size_t(chains), ctypes.c_size_t(dim), pointers[0], ctypes.c_size_t(dim), *pointers[1:])
                               for _ in range(many)]) / many
        for turn in range(a.turns):
            run = dict(chains=chains, warmup=50, draws=4000, sampler="mala", keep="none", progress=False, seed=turn + 1, threads=1)
            own[:] = 0.0, 0
            whole = seconds(lambda: kilochain.sample(kilochain.from_batched(density, dim), **run))
            of_function = seconds(lambda: kilochain.sample(of_c, **run))
            found.append((whole - own[0] - of_function) / own[1] + one)
        print(json.dumps({"what": "a round of from_batched", "chains": chains, "rounds": own[1],
                          "function_us": round(own[0] / own[1] * 1e6, 2), "more_us": round(statistics.median(found) * 1e6, 2),
                          "each": [round(v * 1e6, 2) for v in sorted(found)]}), flush=True)
