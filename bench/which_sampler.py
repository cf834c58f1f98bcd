#!/usr/bin/env python3
"""Every sampler on a few problems with nothing else said: what a gradient and a second are worth.

    bench/which_sampler.py [--samplers a,b] [--problems a,b] [--chains 64] [--max-seconds 6] [--output FILE] [--page FILE]
    bench/which_sampler.py --cells FILE --page docs/results/samplers.md      the page of an earlier run

Figures of one run of the script may be compared with each other alone. A cell is effective draws of the slowest
coordinate for 1 000 gradients (densities, where a sampler asks for none), warm-up included; in brackets its status where
that is not 0. The last table is of effective draws a second, of warm-up and sampling. One JSON line a cell goes to --output.
"""
import argparse
import datetime
import json
import math
import os
import random
import subprocess
import tempfile

SAMPLERS = ("ensemble_hmc nuts chees_hmc mams hmc entropy_hmc gad_mala_fast fisher_mala gad_mala_exact gad_mala_low_rank mala barker tempered_mala gad_rwm adaptive_metropolis "
            "adaptive_metropolis_haario adaptive_proposal gaussian_adaptation cma rwm").split()
PROBLEMS = {
    "correlated": ("2-D Gaussian, correlation 0.99", ["--target", "gaussian", "--target.preset", "gauss2d_corr"]),
    "gp51": ("51-D Gaussian, condition 1 200", ["--target", "gaussian", "--target.preset", "gp51_gaussian"]),
    "scales": ("100-D Gaussian, sds 0.01 to 1", ["--target", "gaussian", "--target.preset", "neal_gaussian"]),
    "regression": ("logistic regression, 25 coefficients", ["--target", "logistic_regression", "--data", "{table}"]),
    "banana": ("banana in 5-D, bend 0.03", ["--target", "banana", "--dim", "5"]),
    "funnel": ("funnel in 5-D, sd of v 1.5", ["--target", "funnel", "--dim", "5", "--target.scale", "1.5"]),
    "modes": ("two modes in 2-D, 8 sds apart", ["--target", "gaussian_mixture", "--means=-4;4", "--weights", "0.3,0.7"]),
}


def write_table(path):
    rng = random.Random(1)
    beta = [rng.gauss(0, 0.5) for _ in range(24)]
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(f"x{i}" for i in range(24)) + ",y\n")
        for _ in range(1000):
            shared = rng.gauss(0, 1)
            x = [0.6 * shared + 0.8 * rng.gauss(0, 1) for _ in beta]
            p = 1 / (1 + math.exp(-sum(a * b for a, b in zip(x, beta))))
            file.write(",".join(f"{v:.6f}" for v in x) + f",{int(rng.random() < p)}\n")


def cell(a, problem, sampler, table):
    command = [a.program, "sample", *(part.format(table=table) for part in PROBLEMS[problem][1]), "--sampler", sampler, "--num-chains",
               str(a.chains), "--seed", "1", "--device", "cpu", "--json", "--quiet", "--max-seconds", str(a.max_seconds)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    j = json.loads(run.stdout) if run.stdout.strip().startswith("{") else {}
    out = {"problem": problem, "sampler": sampler, "chains": a.chains, "status": run.returncode, "load": round(os.getloadavg()[0], 1)}
    if j.get("ess"):
        ess = j["ess"]["min"] or 0
        out |= {"ess": ess, "gradients": j["gradient_evaluations"], "warmup": j["num_warmup"], "samples": j["num_samples"],
                "seconds": j["seconds"]["total"], "rhat": j["rhat_max"], "ess_per_1000": 1000 * ess / max(j["gradient_evaluations"], 1),
                "ess_per_second": ess / max(j["seconds"]["warmup"] + j["seconds"]["sampling"], 1e-9)}
    return out


PAGE = """# Every sampler on seven problems

`bench/which_sampler.py --max-seconds {seconds} --output FILE --page FILE` makes this page: {chains} chains, seed 1, nothing else said, one run a cell,
{date}, {cores} cores. In brackets: the status where it is not 0 (6: not converged within {seconds} s or 20 000 draws a chain, [what it means](../statuses.md)).

The default, `ensemble_hmc`, is ahead where a linear map makes the target round (Gaussians, regressions): it proposes from the normal that it has learnt, and an
evaluation in three is a new draw. It is ahead in the funnel too, in coordinates where that is a normal ([step by step](../default.md)). On the banana `chees_hmc` is its equal. Modes far
apart are for `tempered_mala`, and in two dimensions for random walks that learn from all chains: no trajectory crosses. Without gradients `adaptive_proposal` and
`adaptive_metropolis` do what can be done in few dimensions. [Which sampler when](../samplers.md).

## Effective draws of the slowest coordinate for 1 000 gradients

Warm-up included; of densities, where a sampler asks for no gradient.

{gradients}
## Effective draws a second

Warm-up and sampling; of one run on a machine with nothing else to do: a factor of 1.5 means nothing.

{time}"""


def table_of(cells, problems, samplers, key):
    lines = ["| sampler | " + " | ".join(PROBLEMS[p][0] for p in problems) + " |", "|---" * (len(problems) + 1) + "|"]
    at = {(c["problem"], c["sampler"]): c for c in cells}
    for s in samplers:
        texts = []
        for p in problems:
            c = at[p, s]
            text = f"{float(f'{c[key]:.2g}'):,g}".replace(",", " ") if key in c else "-"
            texts.append(text if c["status"] == 0 else f"{text} ({c['status']})")
        lines.append(f"| `{s}` | " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default=os.path.join(os.path.dirname(__file__), "../build/release/kilochain"))
    parser.add_argument("--samplers", default=",".join(SAMPLERS))
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    parser.add_argument("--chains", type=int, default=64)
    parser.add_argument("--max-seconds", type=int, default=6)
    parser.add_argument("--output")
    parser.add_argument("--cells", help="what an earlier run wrote to --output: nothing is run")
    parser.add_argument("--page", help="a page with both tables")
    a = parser.parse_args()
    samplers, problems, cells = a.samplers.split(","), a.problems.split(","), []
    if a.cells:
        with open(a.cells, encoding="utf-8") as file:
            cells = [json.loads(line) for line in file]
        samplers = list(dict.fromkeys(c["sampler"] for c in cells))
        problems = list(dict.fromkeys(c["problem"] for c in cells))
    with tempfile.TemporaryDirectory() as folder:
        table = os.path.join(folder, "table.csv")
        write_table(table)
        for problem in [] if a.cells else problems:
            for sampler in samplers:
                cells.append(cell(a, problem, sampler, table))
                print(json.dumps(cells[-1]), flush=True)
    if a.output:
        with open(a.output, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(c) + "\n" for c in cells)
    tables = []
    for key in ("ess_per_1000", "ess_per_second"):
        tables.append(table_of(cells, problems, samplers, key))
        print("\n" + tables[-1], end="")
    if a.page:
        with open(a.page, "w", encoding="utf-8") as file:
            file.write(PAGE.format(seconds=a.max_seconds, chains=a.chains, date=datetime.date.today().isoformat(), cores=os.cpu_count(),
                                   gradients=tables[0], time=tables[1]))


if __name__ == "__main__":
    main()
