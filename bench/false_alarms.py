#!/usr/bin/env python3
"""How often the default is wrong about itself: cheap targets, bad starts, nothing else said.

    bench/false_alarms.py [--runs 2016] [--targets a,b] [--num-chains 1024] [--output FILE]

A run is `right` (status 0, every |z| < 4.5), `told` (status 6: a false alarm, except of a wide funnel), `late` (the limit of
time), or a `MISS` (status 0 and not right: a right run's figures pass 4.5 standard errors once in 150 000). Figures are
means, and standard deviations where their kurtosis is known. One JSON line a run; a table at the end.
"""
import argparse
import collections
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/statistical"))
from matrix import covariance

STARTS = ("normal:1", "normal:10", "normal:100", "zeros")
# Flags; then of each coordinate its mean, standard deviation and kurtosis (None: not judged).
TARGETS = {
    "normal_5": (["gaussian_mixture", "--dim", "5", "--means", "0"], [(0, 1, 3)] * 5),
    "scales": (["gaussian", "--covariance", "scales"], [(0, 10.0**(i - 6), 3) for i in range(13)]),
    "rotated": (["gaussian", "--covariance", "rotated"], [(0, math.sqrt(covariance("rotated")[i][i]), 3) for i in range(20)]),
    "banana": (["banana"], [(0, 10, 3), (0, math.sqrt(19), 3 + 48 * 81 / 361)]),
    "near_modes": (["gaussian_mixture", "--dim", "2", "--means=-2;2"], [(0, math.sqrt(5), 3 - 2 * 16 / 25), (0, 1, 3)]),
    "equal_modes": (["gaussian_mixture", "--dim", "2", "--means=-8;8"], [(0, math.sqrt(65), 3 - 2 * 64**2 / 65**2), (0, 1, 3)]),
    "far_modes": (["gaussian_mixture", "--dim", "2", "--means=-8;8", "--weights", "0.3,0.7"], [(3.2, math.sqrt(54.76), 1.80671), (0, 1, 3)]),
    "hidden_mode": (["gaussian_mixture", "--dim", "3", "--means=-8;8", "--weights", "0.4,0.6", "--sds", "2,0.5"], [(1.6, math.sqrt(63.19), None), None, None]),
    "funnel": (["funnel", "--dim", "5", "--scale", "1.5"], [(0, 1.5, 3)] + [None] * 4),
    "wide_funnel": (["funnel", "--dim", "5"], [(0, 3, 3)] + [None] * 4),
}


def largest_z(parameters, exact):
    out = 0
    for p, known in zip(parameters, exact):
        if known is None:
            continue
        mean, sd, kurtosis = known
        ess = max(min(p["ess_bulk"] or 0, p["ess_tail"] or 0), 1e-9)
        out = max(out, abs(p["mean"] - mean) / max(p["mcse_mean"] or 0, 1e-300))
        if kurtosis is not None:
            out = max(out, abs(p["sd"] / sd - 1) / math.sqrt((kurtosis - 1) / (4 * ess)))
    return out


def one(program, folder, name, start, seed, seconds, chains):
    flags, exact = TARGETS[name]
    if "--covariance" in flags:
        path = os.path.join(folder, name + ".csv")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as file:
                for row in covariance(name):
                    file.write(",".join(f"{x:.17g}" for x in row) + "\n")
        flags = flags[:-1] + [path]
    run = subprocess.run([program, "sample", "--target", *flags, "--init", start, "--seed", str(seed), "--device", "cpu", "--json", "--quiet",
                          "--max-seconds", str(seconds), "--num-chains", str(chains)], capture_output=True, text=True, check=False)
    j = json.loads(run.stdout) if run.stdout.startswith("{") else {}
    z = largest_z(j.get("parameters") or [], exact) if j.get("parameters") else math.inf
    right = z < 4.5
    verdict = {0: "right" if right else "MISS", 6: "told", 9: "late"}.get(run.returncode, "other")
    return {"target": name, "start": start, "seed": seed, "chains": j.get("num_chains"), "superchains": j.get("superchains"), "status": run.returncode, "verdict": verdict, "z": z if math.isfinite(z) else None,
            "warmup": j.get("num_warmup"), "samples": j.get("num_samples"), "reason": j.get("reason") or run.stderr.strip()[-200:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(os.path.dirname(__file__), "../build/release/kilochain"))
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--runs", type=int, default=2016)
    parser.add_argument("--max-seconds", type=int, default=20)
    parser.add_argument("--num-chains", type=int, default=0, help="0: as many as the default takes")
    parser.add_argument("--output")
    a = parser.parse_args()
    names = a.targets.split(",")
    verdicts = ("right", "told", "late", "other", "MISS")
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for k in range(a.runs):
            name, start = names[k % len(names)], STARTS[k // len(names) % len(STARTS)]
            row = one(a.program, folder, name, start, 1 + k // (len(names) * len(STARTS)), a.max_seconds, a.num_chains)
            counts[name, start][row["verdict"]] += 1
            if a.output:
                with open(a.output, "a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            if row["verdict"] in ("MISS", "other"):
                print(row, flush=True)
    print(f"{'target':12} {'starts':10} " + " ".join(f"{v:>6}" for v in verdicts))
    for (name, start), c in sorted(counts.items()):
        print(f"{name:12} {start:10} " + " ".join(f"{c[v]:6}" for v in verdicts))
    return int(any(c["MISS"] for c in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
