#!/usr/bin/env python3
"""Thirty-eight Stan programs as people bring them, bench/usual_models/*.stan, with nothing said, beside NUTS whose chains adapt alone.

  python3 bench/usual_models.py [MODEL ...] [--kilochain build/release/kilochain] [--models FOLDER] [--seconds 60] [--seed 1]

Data are simulated (usual_data.py). Each program is compiled once, into --models. Ours: `kilochain sample` with
a limit of time; NUTS: this program's, 4 chains of 1 000 + 1 000. Prints of both the status, seconds, gradients and the smallest
effective sample size a second, and the largest |z| of a difference of their means (of all parameters, where both have status 0
or R-hat below 1.05: below 4.5 unless one is wrong). Adds a line of JSON for each run to --output. Needs numpy and h5py.
"""
import argparse, datetime, glob, json, os, platform, subprocess, tempfile

import numpy as np

from scoring import STATUS, draws_of, ess
from usual_data import data_of

here = os.path.dirname(os.path.abspath(__file__))
ALL = sorted(os.path.basename(f)[:-5] for f in glob.glob(os.path.join(here, "usual_models", "*.stan")))
NUTS = ["--sampler", "nuts", "--adapt-scope", "chain", "--num-chains", "4", "--num-warmup", "1000", "--num-samples", "1000"]


def run(a, compiled, data, flags, file):
    command = [a.kilochain, "sample", "--target", "stan", "--model", compiled, "--data", data, "--seed", str(a.seed), "--max-seconds",
               str(a.seconds), "--output", file, "--json", "--quiet", *flags]
    out = subprocess.run(command, capture_output=True, text=True)
    if not out.stdout.startswith("{"):
        return dict(status=STATUS.get(out.returncode, str(out.returncode)), error=out.stderr.strip()[-300:])
    r = json.loads(out.stdout)
    return dict(status=STATUS.get(out.returncode, str(out.returncode)), seconds=round(r["seconds"]["total"], 2), gradients=r["gradient_evaluations"],
                chains=r["num_chains"], samples=r["num_samples"], rhat_max=r["rhat_max"], min_ess_per_second=r["min_ess_per_second"],
                divergences=r["divergences"], reason=r.get("reason"))


def largest_z(files):
    (names, x), (_, y) = (draws_of(f) for f in files)
    worst, where = 0.0, ""
    for k, name in enumerate(names):
        if not (x[k].var() > 0 and y[k].var() > 0):
            continue
        error = np.sqrt(x[k].var() / ess(x[k]) + y[k].var() / ess(y[k]))
        z = abs(x[k].mean() - y[k].mean()) / error
        if z > worst:
            worst, where = z, name
    return worst, where


def main():
    p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    p.add_argument("wanted", nargs="*", metavar="MODEL", choices=[[], *ALL], help="without any all")
    p.add_argument("--kilochain", default=os.path.join(here, "..", "build", "release", "kilochain"))
    p.add_argument("--models", default=os.path.join(here, "..", "build", "usual_models"), help="folder of compiled programs and data")
    p.add_argument("--seconds", type=int, default=60, help="limit of each run")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--peer", choices=["nuts", "none"], default="nuts")
    p.add_argument("--output", default=os.path.join(here, "results", f"{datetime.date.today()}-usual-models-cpu.jsonl"))
    a = p.parse_args()
    os.makedirs(a.models, exist_ok=True)
    print(f"{'':24}{'default':>14}{'s':>7}{'gradients':>11}{'ESS/s':>8}   {'NUTS':>14}{'s':>7}{'gradients':>11}{'ESS/s':>8}{'|z|':>6}")
    for model in a.wanted or ALL:
        compiled, data = os.path.join(a.models, model + ".so"), os.path.join(a.models, model + ".json")
        json.dump({k: v.tolist() if hasattr(v, "tolist") else v for k, v in data_of(model).items()}, open(data, "w"))
        if not os.path.exists(compiled):
            subprocess.run([a.kilochain, "stan", "compile", os.path.join(here, "usual_models", model + ".stan"), "-o", compiled],
                           check=True)
        rows, line = [], f"{model:24}"
        with tempfile.TemporaryDirectory() as scratch:
            files = [os.path.join(scratch, f"{k}.nc") for k in range(2)]
            for flags, file in zip([[], NUTS][: 2 if a.peer == "nuts" else 1], files):
                row = run(a, compiled, data, flags, file)
                rows.append(dict(model=model, sampler="nuts" if flags else "default", seed=a.seed, machine=platform.processor() or platform.machine(), **row))
                line += f"{row['status']:>14}{row.get('seconds', 0):7.1f}{row.get('gradients', 0):11d}{row.get('min_ess_per_second') or 0:8.0f}   "
            if len(rows) == 2 and all((r.get("rhat_max") or 9) < 1.05 and r.get("samples") for r in rows):
                z, where = largest_z(files)
                rows[0].update(z_of_difference=round(z, 2), worst=where)
                line += f"{z:5.1f} {where}"
        print(line, flush=True)
        with open(a.output, "a") as f:
            f.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
