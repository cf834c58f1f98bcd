#!/usr/bin/env python3
"""Every sampler, scope and number of chains on easy targets with nothing else said: right, or told that not.

    tests/statistical/matrix.py PROGRAM [--chains 1,4,64,1024] [--targets ...] [--samplers ...] [--pima FILE] [--output FILE] [--setting value ...]

A cell is `right` (status 0, all |z| < 5 for means and standard deviations), `told` (status 6, and the run that its sentence
proposes, of another sampler or as many draws, is right), `cut` (its time was over, as it says; not the default), `DEAF` (status 6, and there is no such sentence, or what it proposes is not right) or `WRONG` (status 0 and not
right, or another status). The default must be `right` in every cell. One line a cell, and the table at the end; exit status 1 if a
cell is DEAF or WRONG. 740 cells of some 20 figures each: |z| > 5 by chance once in a hundred runs of all of it.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile

DEFAULT = "ensemble_hmc"
FAR = 5  # standard errors


def covariance(name):
    if name == "normal_5":
        return [[float(i == j) for j in range(5)] for i in range(5)]
    if name == "normal_1":
        return [[4.0]]
    if name == "scales":
        return [[10.0**(2 * (i - 6)) if i == j else 0.0 for j in range(13)] for i in range(13)]
    n = 20  # rotated: H D H with a reflection H, condition 1e4
    v = [math.sin(1 + i) for i in range(n)]
    norm = sum(x * x for x in v)
    h = [[(i == j) - 2 * v[i] * v[j] / norm for j in range(n)] for i in range(n)]
    d = [10**(-4 * i / (n - 1)) for i in range(n)]
    return [[sum(h[i][k] * d[k] * h[k][j] for k in range(n)) for j in range(n)] for i in range(n)]


class Target:
    """The words that choose it, and what is true: means, standard deviations, and the errors of both."""

    def __init__(self, program, folder, name, pima):
        if name == "pima":
            self.words = ["--target", "logistic_regression", "--data", pima]
            out = json.loads(run_of([program, "sample", *self.words, "--json", "--quiet", "--target-ess", "200000"]).stdout)
            known = out["parameters"]
            self.means = [p["mean"] for p in known]
            self.sds = [p["sd"] for p in known]
            self.errors = [p["sd"] / math.sqrt(p["ess_bulk"]) for p in known]
        else:
            cov = covariance(name)
            path = os.path.join(folder, name + ".csv")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(",".join(f"{x:.17g}" for x in row) + "\n" for row in cov)
            self.words = ["--target", "gaussian", "--covariance", path]
            self.means = [0.0] * len(cov)
            self.sds = [math.sqrt(cov[i][i]) for i in range(len(cov))]
            self.errors = [0.0] * len(cov)

    def worst_z(self, parameters):
        worst = 0
        for p, mean, sd, known in zip(parameters, self.means, self.sds, self.errors):
            error = math.hypot(p["mcse_mean"] or 0, known)
            squares = min(p["ess_bulk"] or 0, p["ess_tail"] or 0)  # means may mix faster than squares
            error_of_sd = math.hypot(p["sd"] / math.sqrt(2 * max(squares, 1e-9)), known)
            worst = max(worst, abs(p["mean"] - mean) / max(error, 1e-300), abs(p["sd"] - sd) / max(error_of_sd, 1e-300))
        return worst


def run_of(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def cell(program, target, sampler, scope, chains, seconds, settings):
    chosen = ["--sampler", sampler, "--adapt-scope", scope] if sampler != DEFAULT else []
    command = [program, "sample", *target.words, *chosen, "--num-chains", str(chains), "--json", "--quiet", "--max-seconds",
               str(seconds), *settings]
    run = run_of(command)
    out = {"sampler": sampler, "scope": scope, "chains": chains, "status": run.returncode, "said": run.stderr.strip()}
    j = json.loads(run.stdout) if run.stdout.startswith("{") else {}
    if j.get("parameters"):
        out |= {"z": target.worst_z(j["parameters"]), "rhat": j["rhat_max"], "ess": j["ess"]["min"], "warmup": j["num_warmup"],
                "samples": j["num_samples"], "seconds": j["seconds"]["total"]}
    right = out.get("z", math.inf) < FAR
    out["verdict"] = "right" if run.returncode == 0 and right else "told" if run.returncode == 6 else "WRONG"
    return out


def proposed(said):
    """The sampler and the scope that the sentence proposes."""
    if "the default in place of --sampler" in said:
        return DEFAULT, "pooled"
    named = re.search(r"--sampler (\w+)(?: --adapt-scope (\w+))?", said)
    return (named[1], named[2] or "pooled") if named else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--samplers")
    parser.add_argument("--scopes", default="chain,pooled")
    parser.add_argument("--chains", default="1,4,64,1024")
    parser.add_argument("--targets", default="normal_5,normal_1,scales,rotated,pima")
    parser.add_argument("--pima", help="CSV file of the Pima data")
    parser.add_argument("--max-seconds", type=int, default=20)
    parser.add_argument("--part", action="store_true", help="what CI has time for, unless KILOCHAIN_MATRIX=all: the harder targets")
    parser.add_argument("--output")
    a, settings = parser.parse_known_args()  # what is left: settings for every cell
    if a.part and os.environ.get("KILOCHAIN_MATRIX") != "all":
        a.targets, a.chains, a.max_seconds = "scales,rotated,pima", "4", 5
    refusal = run_of([a.program, "sample", "--target", "gaussian", "--sampler", "gibbs"]).stderr  # names those that fit
    samplers = (a.samplers or re.search(r"Choose --sampler ([\w, ]+\w)", refusal)[1].replace(" or ", ",").replace(" ", "")).split(",")
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for name in a.targets.split(","):
            if name == "pima" and not (a.pima and os.path.exists(a.pima)):
                print("SKIPPED: pima, as its data are not here (--pima FILE)")
                continue
            target = Target(a.program, folder, name, a.pima)
            known = {}

            def at(sampler, scope, chains):
                key = (sampler, scope, chains)
                if key not in known:
                    known[key] = cell(a.program, target, *key, a.max_seconds, settings)
                return known[key]

            for sampler in samplers:
                for scope in a.scopes.split(","):
                    if (sampler, scope) == (DEFAULT, "chain"):  # it learns from all chains, and refuses
                        continue
                    for chains in map(int, a.chains.split(",")):
                        c = at(sampler, scope, chains) | {"target": name}
                        if c["verdict"] == "told":
                            next_try = proposed(c["said"])
                            longer = re.search(r"about (\d+) draws of each are needed", c["said"])
                            if longer and not next_try and sampler != DEFAULT:  # R-hat is just above its bar
                                again = [*settings, "--num-samples", longer[1]]
                                if cell(a.program, target, sampler, scope, chains, a.max_seconds, again)["verdict"] != "right":
                                    c["verdict"] = "DEAF"
                            elif not next_try and "the time is over" in c["said"] and sampler != DEFAULT:
                                c["verdict"] = "cut"
                            elif not next_try or sampler == DEFAULT or at(*next_try, chains)["verdict"] != "right":
                                c["verdict"] = "DEAF"
                        cells.append(c)
                        print(f"{name:9} {sampler:27} {scope:6} {chains:5}  {c['verdict']:5} status {c['status']}"
                              f"  |z| {c.get('z', math.nan):8.3g}  R-hat {c.get('rhat') or math.nan:8.5g}  {c.get('seconds', math.nan):5.1f} s"
                              f"  {c.get('warmup', ''):>6} + {c.get('samples', ''):<6}"
                              f" {'' if c['verdict'] in ('right', 'told', 'cut') else c['said'][-300:]!r}", flush=True)
                        if a.output:
                            with open(a.output, "a", encoding="utf-8") as file:
                                file.write(json.dumps(c) + "\n")
    count = {v: sum(c["verdict"] == v for c in cells) for v in ("right", "told", "cut", "DEAF", "WRONG")}
    print(f"{len(cells)} cells: {count['right']} right; {count['told']} told that they are not, and what they propose is; {count['cut']} had no time;"
          f" {count['DEAF']} without a sentence that helps; {count['WRONG']} wrong")
    return int(count["DEAF"] + count["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main())
