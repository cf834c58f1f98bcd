#!/usr/bin/env python3
"""Minimum effective sample size per second, warm-up included, of pooled gadMALAf on each target: one table, and JSON.

  python3 bench/bench_ess.py [--kilochain build/release/kilochain] [--data ../shared/data] [--device cpu] [--output FILE] [--smoke]

Every run is `kilochain sample --json` with automatic lengths, 256 chains (64 for Caravan), float. What has not converged says so.
"""
import argparse, datetime, json, os, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("--kilochain", default=os.path.join(here, "..", "build", "release", "kilochain"))
p.add_argument("--data", default=os.path.join(here, "..", "..", "shared", "data"))
p.add_argument("--device", default="cpu")
p.add_argument("--output")
p.add_argument("--smoke", action="store_true")
a = p.parse_args()

def csv(name):
    return ["--target", "logistic_regression", "--data", os.path.join(a.data, name + ".csv")]

own = os.path.join(here, "..", "data", "challenger.csv")
cases = [("challenger", ["--target", "logistic_regression", "--data", own], 256)]
if not a.smoke:
    cases += [(name, ["--target", "gaussian", "--preset", name], 256) for name in ("gauss2d_corr", "gp51_gaussian", "neal_gaussian")]
    if os.path.isdir(a.data):
        cases += [(name, csv(name), 64 if name == "caravan" else 256) for name in ("ripley", "pima", "heart", "australian", "german", "caravan")]
    else:
        print(f"left out: the papers' data sets, {a.data} is not there", file=sys.stderr)

rows = []
print(f"{'target':<16}{'chains':>7}{'warm-up':>9}{'samples':>9}{'seconds':>9}{'min ESS':>10}{'min ESS/s':>11}{'R-hat':>8}")
for name, target, chains in cases:
    run = subprocess.run([a.kilochain, "sample", *target, "--num-chains", str(chains), "--real", "float", "--device", a.device, "--seed", "1", "--json", "--quiet"], capture_output=True, text=True)
    if run.returncode not in (0, 6):
        sys.exit(run.stderr)
    r = json.loads(run.stdout)
    low = min(min(q["ess_bulk"], q["ess_tail"]) for q in r["parameters"])
    note = "" if r["converged"] else "  not converged"
    print(f"{name:<16}{r['num_chains']:>7}{r['num_warmup']:>9}{r['num_samples']:>9}{r['seconds']['total']:>9.2f}{low:>10.0f}{r['min_ess_per_second']:>11.0f}{r['rhat_max']:>8.4f}{note}", flush=True)
    del r["parameters"]
    rows.append(dict(r, name=name))
if a.output:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
    json.dump(dict(date=datetime.date.today().isoformat(), commit=commit, cores=os.cpu_count(), rows=rows), open(a.output, "w"), indent=1)
