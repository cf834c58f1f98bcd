#!/usr/bin/env python3
"""Every sampler, scope and number of chains on easy targets with nothing else said: right, or told that not.

    bench/robustness.py [--samplers a,b] [--scopes chain,pooled] [--chains 1,4,64,1024] [--targets ...] [--output FILE] [--setting value ...]

A cell is `right` (status 0, all |z| < 5 for means and squares), `told` (another status, with its sentence), or `WRONG`
(status 0 and not right). One JSON line a cell; the table at the end. Exit status 1 if any cell is WRONG.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

SAMPLERS = ("adaptive_metropolis adaptive_metropolis_haario adaptive_proposal barker chees_hmc cma ensemble_hmc fisher_mala gad_mala_exact "
            "gad_mala_fast gad_mala_low_rank gad_rwm gaussian_adaptation hmc mala mams nuts rwm tempered_mala").split()


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


def cell(program, folder, target, sampler, scope, chains, seconds, settings):
    path = os.path.join(folder, target + ".csv")
    cov = covariance(target)
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            for row in cov:
                file.write(",".join(f"{x:.17g}" for x in row) + "\n")
    command = [program, "sample", "--target", "gaussian", "--covariance", path, "--sampler", sampler, "--adapt-scope", scope,
               "--num-chains", str(chains), "--json", "--quiet", "--max-seconds", str(seconds), *settings]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    out = {"target": target, "sampler": sampler, "scope": scope, "chains": chains, "status": run.returncode}
    j = json.loads(run.stdout) if run.stdout.strip().startswith("{") else {}
    if j.get("parameters"):
        z = []
        for p, i in zip(j["parameters"], range(len(cov))):
            z.append(abs(p["mean"]) / max(p["mcse_mean"] or 0, 1e-300))
            sd, true = p["sd"], math.sqrt(cov[i][i])
            error = sd / math.sqrt(2 * max(p["ess_bulk"] or 0, 1e-9))
            z.append(abs(sd - true) / max(error, 1e-300))
        out |= {"z": max(z), "rhat": max(p["rhat"] or 9e9 for p in j["parameters"]), "ess": min(p["ess_bulk"] or 0 for p in j["parameters"]),
                "acceptance_rate": j["acceptance_rate"]["mean"], "warmup": j["num_warmup"], "samples": j["num_samples"],
                "seconds": j["seconds"]["total"]}
        out["reason"] = j.get("reason") or run.stderr.strip()[-200:]
    else:
        out["reason"] = run.stderr.strip()[-300:]
    right = out.get("z", 9e9) < 5
    out["verdict"] = ("right" if right else "WRONG") if run.returncode == 0 else "told"
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(os.path.dirname(__file__), "../build/release/kilochain"))
    parser.add_argument("--samplers", default=",".join(SAMPLERS))
    parser.add_argument("--scopes", default="chain,pooled")
    parser.add_argument("--chains", default="1,4,64,1024")
    parser.add_argument("--targets", default="normal_5,normal_1,scales,rotated")
    parser.add_argument("--max-seconds", type=int, default=20)
    parser.add_argument("--output")
    a, settings = parser.parse_known_args()  # what is left: settings for every cell
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for target in a.targets.split(","):
            for sampler in a.samplers.split(","):
                for scope in a.scopes.split(","):
                    if (sampler, scope) == ("ensemble_hmc", "chain"):  # it learns from all chains, and refuses
                        continue
                    for chains in map(int, a.chains.split(",")):
                        c = cell(a.program, folder, target, sampler, scope, chains, a.max_seconds, settings)
                        cells.append(c)
                        print(f"{target:9} {sampler:27} {scope:6} {chains:5}  {c['verdict']:5} status {c['status']}"
                              f"  |z| {c.get('z', math.nan):8.3g}  R-hat {c.get('rhat', math.nan):8.5g}  acceptance"
                              f" {c.get('acceptance_rate', math.nan):5.3f}  {c.get('seconds', math.nan):5.1f} s  {c['warmup'] if 'warmup' in c else '':>6}"
                              f" + {c['samples'] if 'samples' in c else '':<6} {'' if c['status'] == 0 else c['reason'][:110]!r}",
                              flush=True)
                        if a.output:
                            with open(a.output, "a", encoding="utf-8") as file:
                                file.write(json.dumps(c) + "\n")
    count = {v: sum(c["verdict"] == v for c in cells) for v in ("right", "told", "WRONG")}
    print(f"{len(cells)} cells: {count['right']} right, {count['told']} told that they are not, {count['WRONG']} wrong")
    return int(count["WRONG"] > 0)


if __name__ == "__main__":
    sys.exit(main())
