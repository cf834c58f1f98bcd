#!/usr/bin/env python3
"""Two builds of the program on the same jobs, in turns on the same core: seconds of the processor (user and system), the
smallest of --repeats, and their ratio. A job that only one of them knows is said and left out.

    python3 bench/compare_versions.py OLD/kilochain NEW/kilochain --german ../shared/data/german.csv > result.jsonl
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("old")
parser.add_argument("new")
parser.add_argument("--german", help="the German credit data; without it that job is left out")
parser.add_argument("--repeats", type=int, default=5)
a = parser.parse_args()

challenger = os.path.join(os.path.dirname(__file__), "..", "data", "challenger.csv")
draws = os.path.join(tempfile.mkdtemp(), "draws.nc")
neal = "--target gaussian --target.preset neal_gaussian --num-chains 64 --num-warmup 500 --num-samples 4000".split()
jobs = {
    "demo": ["--target", "logistic_regression", "--data", challenger, "--sampler", "gad_mala_fast", "--num-chains", "1000",
             "--num-warmup", "1000", "--num-samples", "1000", "--output", draws],
    "neal alone, gad_mala_fast": neal[:3] + ["neal_gaussian", "--num-chains", "1", "--num-warmup", "20000", "--num-samples", "20000",
                                             "--sampler", "gad_mala_fast", "--optimizer", "rmsprop", "--adapt-scope", "chain", "--draws", "none"],
    "neal, pooled hmc, draws none": neal + ["--sampler", "hmc", "--mass", "unit", "--draws", "none"],
    "neal, pooled hmc, draws all": neal + ["--sampler", "hmc", "--mass", "unit", "--draws", "all"],
}
if a.german:
    jobs["german pooled, gad_mala_fast"] = ["--target", "logistic_regression", "--data", a.german, "--num-chains", "256",
                                            "--num-warmup", "1000", "--num-samples", "1000", "--draws", "none"]


def seconds(program, job):
    if os.path.exists(draws):
        os.remove(draws)  # a run replaces no draws
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["taskset", "-c", "0", program, "sample", *job, "--seed", "1", "--threads", "1", "--quiet"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 6):  # 6: not converged, which these lengths may be
        return None, done.stderr.strip().splitlines()[:1]
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, None


for name, job in jobs.items():
    best = {}
    for _ in range(a.repeats):
        for which in ("old", "new"):
            took, error = seconds(getattr(a, which), job)
            if took is None:
                print(f"compare_versions: {name}: {which} cannot run it: {error}", file=sys.stderr)
                break
            best[which] = min(best.get(which, took), took)
        else:
            continue
        break
    else:
        print(json.dumps({"job": name, "seconds_old": round(best["old"], 3), "seconds_new": round(best["new"], 3),
                          "new_over_old": round(best["new"] / best["old"], 3)}), flush=True)
