#!/usr/bin/env python3
"""The thirteen models of examples/posteriors with nothing said but data: what a model of one's own meets on its first day.

  python3 bench/own_models.py [MODEL ...] [--program build/posteriors/my_kilochain] [--suite ../shared/posteriordb] [--seconds 60]

Each run is `my_kilochain sample --target MODEL --data FILE --max-seconds 60`. "right": every |z| of a mean or a mean square is
below 4, against reference draws of the suite; for radon and the state-space model, which are normal given their two standard
deviations, against the exact answer (quadrature over both, and of normals). Prints a line a model and the count that has
status 0 and is right; adds a line of JSON for each run to --output. Needs numpy, and h5py to read the files of draws.
"""
import argparse, datetime, json, os, platform, subprocess, sys, tempfile, time

import numpy as np

from scoring import STATUS, score

here = os.path.dirname(os.path.abspath(__file__))
MODELS = {  # the suite's posterior; or a file of the repository
    "eight_schools": "eight_schools-eight_schools_noncentered", "kidiq": "kidiq-kidscore_momiq", "arma": "arma-arma11",
    "low_dim_gauss_mix": "low_dim_gauss_mix-low_dim_gauss_mix", "sblrc": "sblrc-blr", "mesquite": "mesquite-logmesquite",
    "radon_centred": "radon_mn-radon_hierarchical_intercept_centered", "radon_noncentred": "radon_mn-radon_hierarchical_intercept_noncentered",
    "hidden_markov": "hmm_example-hmm_example", "lotka_volterra": "hudson_lynx_hare-lotka_volterra",
    "gaussian_process": "gp_pois_regr-gp_regr", "diamonds": "diamonds-diamonds", "state_space": "data/state_space.json"}
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("models", nargs="*", metavar="MODEL", choices=[[], *MODELS], help="without any all thirteen")
p.add_argument("--program", default=os.path.join(here, "..", "build", "posteriors", "my_kilochain"))
p.add_argument("--suite", default=os.path.join(here, "..", "..", "shared", "posteriordb"))
p.add_argument("--seconds", type=int, default=60)
p.add_argument("--seed", type=int, default=1)
p.add_argument("--output", default=os.path.join(here, "results", f"{datetime.date.today()}-own-models-cpu.jsonl"))
a = p.parse_args()


def given_scales(A, y, precision, names, outer, inner):
    """Exact moments where y ~ N(A x, inner^2), x ~ N(0, precision(outer)^-1), and both scales are half-normal of sd 1."""
    yy, AA, Ay = y @ y, A.T @ A, A.T @ y

    def at(s, t):
        Q = precision(s)
        P = Q + AA / t**2
        L = np.linalg.cholesky(P)
        half = np.linalg.solve(L, Ay / t**2)
        lp = np.log(np.diag(np.linalg.cholesky(Q))).sum() - np.log(np.diag(L)).sum() - len(y) * np.log(t) - 0.5 * (yy / t**2 - half @ half)
        return lp - 0.5 * (s * s + t * t) + np.log(s * t), L, half  # on log s, log t

    low, high, points = np.full(2, -4.0), np.full(2, 2.0), 25
    for _ in range(4):  # the grid closes in: in the last one it spans 7 sd to either side, 8 points an sd
        u, v = (np.linspace(low[k], high[k], points) for k in range(2))
        lp = np.array([[at(np.exp(i), np.exp(j))[0] for j in v] for i in u])
        w = np.exp(lp - lp.max())
        w /= w.sum()
        for k, (x, m) in enumerate(((u, w.sum(1)), (v, w.sum(0)))):
            mean = x @ m
            sd = max(np.sqrt(x * x @ m - mean**2), x[1] - x[0])
            low[k], high[k] = mean - 7 * sd, mean + 7 * sd
        points = 57
    mean, mean_sq = np.zeros(A.shape[1]), np.zeros(A.shape[1])
    scales = np.zeros((2, 2))
    for i, s in enumerate(np.exp(u)):
        for j, t in enumerate(np.exp(v)):
            if w[i, j] < 1e-14:
                continue
            _, L, half = at(s, t)
            inverse = np.linalg.inv(L)
            m = inverse.T @ half
            mean += w[i, j] * m
            mean_sq += w[i, j] * (m * m + (inverse**2).sum(0))
            scales += w[i, j] * np.array([[s, t], [s * s, t * t]])
    zero = [0.0] * (len(mean) + 2)
    return dict(parameters=[*names, outer, inner], mean=[*mean, *scales[0]], mean_sq=[*mean_sq, *scales[1]], mcse_mean=zero, mcse_mean_sq=zero)


def exact(model, data):
    if model == "state_space":
        y = np.array(data["y"])
        n = len(y)
        D = np.eye(n)[1:] - np.eye(n)[:-1]
        first = np.zeros((n, n))
        first[0, 0] = 1 / 25
        return given_scales(np.eye(n), y, lambda s: D.T @ D / s**2 + first, [f"level[{k + 1}]" for k in range(n)], "sigma_level", "sigma_y")
    J, N = data["J"], data["N"]
    A = np.zeros((N, J + 3))  # counties, uranium, floor, their mean
    A[np.arange(N), np.array(data["county_idx"]) - 1] = 1
    A[:, J], A[:, J + 1] = data["log_uppm"], data["floor_measure"]
    D = np.hstack([np.eye(J), np.zeros((J, 2)), -np.ones((J, 1))])
    wide = np.diag([0.0] * J + [0.01] * 3)
    names = [f"alpha[{k + 1}]" for k in range(J)] + ["beta[1]", "beta[2]", "mu_alpha"]
    return given_scales(A, np.array(data["log_radon"]), lambda s: D.T @ D / s**2 + wide, names, "sigma_alpha", "sigma_y")


if not os.path.isdir(a.suite):
    sys.exit(f"{a.suite}: no folder of posteriors. Name one with --suite?")
commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
where = dict(date=datetime.date.today().isoformat(), commit=commit, machine=platform.processor() or platform.machine(), cores=os.cpu_count())
chosen, good = a.models or list(MODELS), 0
for model in chosen:
    own = MODELS[model].endswith(".json")
    path = os.path.join(here, "..", MODELS[model]) if own else os.path.join(a.suite, MODELS[model], "data.json")
    known = os.path.join(a.suite, MODELS[model], "reference.json")
    reference = json.load(open(known)) if os.path.exists(known) else exact(model, json.load(open(path)))
    # theirs count from 1, ours from 0
    reference["parameters"] = [f"{n[:n.index('[')]}[{int(n[n.index('[') + 1:-1]) - 1}]" if "[" in n else n for n in reference["parameters"]]
    with tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, "draws.nc")
        begin = time.time()
        out = subprocess.run([a.program, "sample", "--target", model, "--data", path, "--max-seconds", str(a.seconds), "--seed", str(a.seed),
                              "--output", file, "--json", "--quiet"], capture_output=True, text=True)
        row = dict(model=model, status=STATUS.get(out.returncode, str(out.returncode)), wall=round(time.time() - begin, 2))
        if out.stdout.startswith("{"):
            run = json.loads(out.stdout)
            seconds = run["seconds"]["total"]
            row.update(seconds=round(seconds, 2), warmup=run["num_warmup"], rhat_max=run["rhat_max"], gradients=run["gradient_evaluations"], reason=run.get("reason"))
            if run["num_samples"]:
                row.update(score(file, reference, seconds), compared=2 * len(reference["parameters"]))
        else:
            row["error"] = out.stderr.strip()[-300:]
    right = row["status"] == "done" and row.get("z_max", np.inf) < 4
    good += right
    print(f"{model:<18} {row['status']:<14} |z| {row.get('z_max', np.nan):5.2f} of {row.get('compared', 0):3}  {row.get('chains', 0):3} chains, "
          f"{row['wall']:6.2f} s, smallest effective size {row.get('min_ess', 0):8.0f}{'' if right else '   <-- not right'}", flush=True)
    with open(a.output, "a") as results:
        results.write(json.dumps(dict(row, **where)) + "\n")
print(f"status 0 and right: {good} of {len(chosen)}")
