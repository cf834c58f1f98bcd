#!/usr/bin/env python3
"""Nineteen Stan programs as people bring them, bench/usual_models/*.stan, with nothing said, beside NUTS whose chains adapt alone.

  python3 bench/usual_models.py [MODEL ...] [--kilochain build/release/kilochain] [--models FOLDER] [--seconds 60] [--seed 1]

Data are simulated, from seeds that are written here. Each program is compiled once, into --models. Ours: `kilochain sample` with
a limit of time; NUTS: this program's, 4 chains of 1 000 + 1 000. Prints of both the status, seconds, gradients and the smallest
effective sample size a second, and the largest |z| of a difference of their means (of all parameters, where both have status 0
or R-hat below 1.05: below 4.5 unless one is wrong). Adds a line of JSON for each run to --output. Needs numpy and h5py.
"""
import argparse, datetime, glob, json, os, platform, subprocess, tempfile

import numpy as np

from scoring import STATUS, draws_of, ess

here = os.path.dirname(os.path.abspath(__file__))
ALL = sorted(os.path.basename(f)[:-5] for f in glob.glob(os.path.join(here, "usual_models", "*.stan")))
NUTS = ["--sampler", "nuts", "--adapt-scope", "chain", "--num-chains", "4", "--num-warmup", "1000", "--num-samples", "1000"]


def data_of(model):
    r = np.random.default_rng(20261128)
    if model == "local_level":
        T = 200
        return dict(T=T, y=np.cumsum(r.normal(0, .2, T)) + r.normal(0, .5, T))
    if model == "stochastic_volatility":
        T, h = 500, [-1.0]
        for _ in range(T - 1):
            h.append(-1 + .95 * (h[-1] + 1) + .25 * r.normal())
        return dict(T=T, y=np.exp(np.array(h) / 2) * r.normal(size=T))
    if model in ("horseshoe", "regularised_horseshoe"):
        N, D, b = (60, 40, [2, -1.5, 1, .7]) if model == "horseshoe" else (100, 60, [2, -2, 1.5])
        X = r.normal(size=(N, D))
        eta = X[:, :len(b)] @ np.array(b)
        return dict(N=N, D=D, X=X, y=eta + r.normal(size=N) if model == "horseshoe" else r.binomial(1, 1 / (1 + np.exp(-eta))))
    if model == "varying_slopes":
        J, N = 30, 300
        g, x, b = r.integers(0, J, N), r.normal(size=N), np.array([1, .5]) + r.normal(size=(J, 2)) * [.8, .3]
        return dict(N=N, J=J, g=g + 1, x=x, y=b[g, 0] + b[g, 1] * x + r.normal(0, .7, N))
    if model == "gaussian_process":
        x = np.sort(r.uniform(-3, 3, 50))
        return dict(N=50, x=x, y=np.sin(2 * x) + r.normal(0, .3, 50))
    if model == "three_normals":
        c = r.integers(0, 3, 300)
        return dict(N=300, K=3, y=np.array([-3, 0, 2.5])[c] + r.normal(size=300) * np.array([.7, .5, 1])[c])
    if model == "two_normals_unordered":
        return dict(N=200, y=np.where(r.random(200) < .35, r.normal(-2, 1, 200), r.normal(2, .7, 200)))
    if model == "grid_field":
        n = 15
        at = np.arange(n * n).reshape(n, n) + 1
        a, b = np.r_[at[:, :-1].ravel(), at[:-1].ravel()], np.r_[at[:, 1:].ravel(), at[1:].ravel()]
        offset, field = r.normal(1, .3, n * n), .4 * np.add.outer(np.sin(np.arange(n) / 3), np.cos(np.arange(n) / 4)).ravel()
        return dict(N=n * n, E=len(a), a=a, b=b, log_expected=offset, y=r.poisson(np.exp(offset + field)))
    if model == "seasonal_counts":
        t = np.arange(120)
        return dict(T=120, y=r.poisson(np.exp(1 + np.sin(t / 20) + .3 * np.sin(t * np.pi / 6))))
    if model == "crossed_logit":
        N, J, K = 1000, 50, 20
        g, h, x = r.integers(0, J, N), r.integers(0, K, N), r.normal(size=N)
        eta = .3 + .8 * x + r.normal(0, .7, J)[g] + r.normal(0, .2, K)[h]
        return dict(N=N, J=J, K=K, g=g + 1, h=h + 1, x=x, y=r.binomial(1, 1 / (1 + np.exp(-eta))))
    if model == "beta_binomial":
        n = r.integers(10, 50, 71)
        return dict(J=71, n=n, y=r.binomial(n, r.beta(2, 14, 71)))
    if model == "covariance":
        return dict(N=100, D=6, y=r.multivariate_normal(np.zeros(6), .5 + .5 * np.eye(6), 100))
    if model == "change_point":
        return dict(T=100, y=np.r_[r.poisson(3, 40), r.poisson(1, 60)])
    X, b = r.normal(size=(200, 5)), np.array([.5, -.3, 0, .2, 0])
    if model == "negative_binomial":
        return dict(N=200, K=5, X=X, y=r.negative_binomial(2, 2 / (2 + np.exp(1 + X @ b))))
    if model == "ordered_logit":
        u = X @ b * 2 + r.logistic(size=200)
        return dict(N=200, K=5, C=5, X=X, y=1 + (u[:, None] > [-2, -.5, .5, 2]).sum(1))
    if model == "student_t_regression":
        return dict(N=200, K=5, X=X, y=1 + X @ b + .5 * r.standard_t(3, 200))
    return {}  # of a density alone


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
