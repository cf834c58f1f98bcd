"""Writes diagnostics_answers.json: what ArviZ says about series that any language can rebuild.

Series: p = 0; for t = 1 .. chains * draws: p = a p + sin(t t) (double, radians), value p, row-major [chain][draw];
then a map: "none"; "round" (floor(2 p + 0.5) / 2, many ties); "exp" (exp(3 p), heavy tail);
"trend" (p + 2 draw / draws); "shift" (p + 0.5 chain); "sticky" (p of t = 3 floor(t / 3), runs of equal draws).
Run once with ArviZ 0.23; the tests need only the JSON. null is NaN.
"""

import json
import math
import pathlib

import arviz
import numpy as np
from scipy.stats import norm

CASES = [
    # a, chains, draws, map
    (0.5, 4, 1000, "none"), (0.9, 4, 1000, "none"), (0.99, 2, 6000, "none"), (0.999, 2, 6001, "none"),
    (-0.5, 4, 1001, "none"), (0.0, 3, 301, "none"), (0.9, 1, 1001, "none"), (0.9, 50, 40, "none"),
    (0.7, 4, 500, "round"), (0.9, 4, 999, "sticky"), (0.8, 4, 500, "exp"), (0.5, 4, 400, "trend"),
    (0.5, 4, 400, "shift"), (0.5, 1, 4, "none"), (0.5, 2, 4, "none"), (0.5, 1, 5, "none"), (0.5, 2, 5, "none"),
    (0.5, 1, 31, "none"), (0.5, 2, 31, "none"), (0.5, 1, 33, "none"), (0.5, 2, 33, "none"), (0.9, 2, 8, "none"),
    (0.9, 2, 10, "none"), (0.9, 3, 65, "none"), (0.9, 2, 129, "round"),
]


def series(a, chains, draws, change):
    p, path = 0.0, []
    for t in range(1, chains * draws + 1):
        p = a * p + math.sin(t * t)
        path.append(p)
    n = len(path)
    if change == "round":
        path = [math.floor(2 * p + 0.5) / 2 for p in path]
    elif change == "exp":
        path = [math.exp(3 * p) for p in path]
    elif change == "trend":
        path = [path[t] + 2 * (t % draws) / draws for t in range(n)]
    elif change == "shift":
        path = [path[t] + 0.5 * (t // draws) for t in range(n)]
    elif change == "sticky":
        path = [path[3 * (t // 3)] for t in range(n)]
    return np.array(path).reshape(chains, draws)


def number(x):
    return None if not np.isfinite(x) else float(x)


cases = []
for a, chains, draws, change in CASES:
    x = series(a, chains, draws, change)
    cases.append({
        "a": a, "chains": chains, "draws": draws, "map": change,
        "mean": float(x.mean()), "sd": float(x.std(ddof=1)),
        **{f"q{p:02d}": float(np.quantile(x, p / 100)) for p in (5, 50, 95)},
        "mcse_mean": number(arviz.mcse(x, method="mean")),
        "ess_mean": number(arviz.ess(x, method="mean")), "ess_bulk": number(arviz.ess(x, method="bulk")),
        "ess_tail": number(arviz.ess(x, method="tail")), "ess_square": number(arviz.ess(x, method="sd")),
        "ess_q30": number(arviz.ess(x, method="quantile", prob=0.3)),
        "rhat": number(arviz.rhat(x, method="rank")), "rhat_split": number(arviz.rhat(x, method="split")),
    })
probabilities = [1e-300, 1e-20, 1e-10, 1e-5, 0.01, 0.0749, 0.0751, 0.3, 0.5, 0.7, 0.9251, 0.99, 0.999999]
answers = {
    "source": f"ArviZ {arviz.__version__}, NumPy {np.__version__}, by make_diagnostics_answers.py",
    "normal_quantile": [[p, float(norm.ppf(p))] for p in probabilities],
    "cases": cases,
}
out = pathlib.Path(__file__).with_name("diagnostics_answers.json")
text = ",\n".join(json.dumps(case) for case in cases)
head = json.dumps({key: answers[key] for key in ("source", "normal_quantile")}, indent=None)[:-1]
out.write_text(f'{head},\n"cases": [\n{text}\n]}}\n')
