#!/usr/bin/env python3
"""Mixtures of normals at random places, with nothing said: does the default find all their modes?

  python3 bench/random_mixtures.py [--runs 60] [--program build/release/kilochain] [--output FILE]

1 to 15 coordinates, 2 to 6 modes, each coordinate of a mode within 6, 10 or 14 of 0, sds 0.3 to 2, weights 0.5 to 2. A run is
right when the first coordinate's mean is within 4.5 of its standard errors. 64 chains. Prints runs that are not, and a table: status, right
or wrong, and whether all modes have one width. Narrow modes far from a wide one are not to be found by climbing: from far away
the wide one is uphill. They are what this counts. Adds a line of JSON a run to --output.
"""
import argparse, collections, json, math, os, random, subprocess

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("--runs", type=int, default=60)
p.add_argument("--seconds", type=int, default=20, help="limit of each run")
p.add_argument("--program", default=os.path.join(here, "..", "build", "release", "kilochain"))
p.add_argument("--output")
a = p.parse_args()

draw = random.Random(5)
table = collections.Counter()
for seed in range(1, a.runs + 1):
    dim, modes = draw.choice([1, 2, 3, 5, 8, 15]), draw.choice([2, 2, 3, 4, 6])
    means = [[round(draw.uniform(-1, 1) * draw.choice([6, 10, 14]), 2) for _ in range(dim)] for _ in range(modes)]
    weights = [round(draw.uniform(0.5, 2), 2) for _ in range(modes)]
    sds = [draw.choice([0.3, 0.5, 1, 1, 2]) for _ in range(modes)]
    truth = sum(w * m[0] for w, m in zip(weights, means)) / sum(weights)
    settings = {"dim": dim, "means": ";".join(",".join(map(str, m)) for m in means), "weights": ",".join(map(str, weights))}
    settings |= {"sds": ",".join(map(str, sds)), "seed": seed, "num-chains": 64, "max-seconds": a.seconds}
    flags = [f"--{name}={value}" for name, value in settings.items()]
    run = subprocess.run([a.program, "sample", "--target", "gaussian_mixture", "--json", "--quiet"] + flags, capture_output=True, text=True)
    answer = json.loads(run.stdout) if run.stdout else {}
    first = answer["parameters"][0] if answer.get("parameters") else {"mean": math.nan, "mcse_mean": 1}
    z = (first["mean"] - truth) / first["mcse_mean"]
    right, one_width = abs(z) < 4.5, len(set(sds)) == 1
    table[run.returncode, right, one_width] += 1
    line = {"seed": seed, "dim": dim, "modes": modes, "sds": sds, "status": run.returncode, "z": round(z, 2), "right": right}
    line |= {"found": answer.get("unequal_modes", ""), "seconds": answer.get("seconds_total")}
    if not (run.returncode == 0 and right):
        print(f"{seed:3} {dim:3} coordinates, {modes} modes, sds {sds}: status {run.returncode}, z {z:.1f} {line['found']}", flush=True)
    if a.output:
        with open(a.output, "a") as f:
            f.write(json.dumps(line) + "\n")
print(f"\n{'status':8}{'mean':8}{'widths':10}runs")
for (status, right, one_width), count in sorted(table.items()):
    print(f"{status:<8}{'right' if right else 'wrong':8}{'one' if one_width else 'several':10}{count}")
