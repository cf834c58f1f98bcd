#!/usr/bin/env python3
"""Kilochain against the samplers a user would pick instead, on one problem, in one run, scored by one script.

  python3 bench/compare_peers.py --peers ../shared/peers/bench_peers.py --data ../shared/data [--problem german]

Every program runs on all cores, 64 chains, float32. Seconds are warm seconds: warm-up and sampling, without compilation
(peers) and without reading the data and writing the file (Kilochain: `seconds.total` of --json). Minimum ESS is the smaller
of the worst coordinate's and the worst squared deviation's over all chains, computed by the peers' script for everybody.
Prints a table and writes JSON with --output. Needs jax, numpyro, blackjax, optax, netCDF4 in --python.
"""
import argparse, datetime, json, os, platform, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("--peers", required=True, help="the script that times and scores the peers")
p.add_argument("--data", required=True, help="folder of the problems' data files")
p.add_argument("--problem", default="german")
p.add_argument("--kilochain", default=os.path.join(here, "..", "build", "release", "kilochain"))
p.add_argument("--python", default=sys.executable)
p.add_argument("--chains", type=int, default=64)
p.add_argument("--num-warmup", type=int, default=600)
p.add_argument("--num-samples", type=int, default=4000)
p.add_argument("--repeats", type=int, default=5, help="runs of Kilochain; the median is reported")
p.add_argument("--only-ours", action="store_true")
p.add_argument("--device", default="cpu")
p.add_argument("--output", help="JSON file to write")
a = p.parse_args()

PEERS = [("blackjax_chees_diagonal", 500, 500), ("blackjax_meads_low_rank", 500, 1000), ("blackjax_nuts_low_rank", 500, 500), ("numpyro_nuts_dense", 500, 500)]

def last_json(command):
    out = subprocess.run(command, capture_output=True, text=True)
    lines = [l for l in out.stdout.splitlines() if l.startswith("{")]
    if not lines:
        return None, out.stderr.strip().splitlines()[-1:] or ["no output"]
    return json.loads(lines[-1]), None

def ours(seed, folder):
    nc, npy = os.path.join(folder, f"{seed}.nc"), os.path.join(folder, f"{seed}.npy")
    target = ["--target", "logistic_regression", "--data", os.path.join(a.data, a.problem + ".csv")]
    if a.problem == "neal":
        target = ["--target", "gaussian", "--preset", "neal_gaussian"]
    command = [a.kilochain, "sample", *target, "--sampler", "gad_mala_fast", "--adapt-scope", "pooled", "--real", "float", "--num-chains", str(a.chains),
               "--num-warmup", str(a.num_warmup), "--num-samples", str(a.num_samples), "--seed", str(seed), "--device", a.device, "--output", nc, "--json", "--quiet"]
    out = subprocess.run(command, capture_output=True, text=True)
    if out.returncode not in (0, 6):  # what has not converged has a low score, as the peers have
        sys.exit(out.stderr)
    run = json.loads(out.stdout)
    export = "import sys, numpy, netCDF4; g = netCDF4.Dataset(sys.argv[1])['posterior']; v = [x for x in g.variables.values() if x.ndim == 3][0]; numpy.save(sys.argv[2], v[:].filled())"
    subprocess.run([a.python, "-c", export, nc, npy], check=True)
    score, error = last_json([a.python, a.peers, "--score", npy, "--seconds", str(run["seconds"]["total"]), "--peer", "kilochain_gad_mala_fast_pooled", "--problem", a.problem])
    os.remove(nc), os.remove(npy)
    if score is None:
        sys.exit(str(error))
    return dict(score, warmup=a.num_warmup, seconds=run["seconds"], acceptance_rate=run["acceptance_rate"]["mean"])

rows = []
with tempfile.TemporaryDirectory() as folder:
    runs = sorted((ours(seed, folder) for seed in range(1, a.repeats + 1)), key=lambda r: r["min_ess_per_second"])
    rows.append(runs[len(runs) // 2])
    rows[0]["min_ess_per_second_range"] = [runs[0]["min_ess_per_second"], runs[-1]["min_ess_per_second"]]
if not a.only_ours:
    for peer, warmup, samples in PEERS:
        row, error = last_json([a.python, a.peers, "--data", a.data, "--problem", a.problem, "--peer", peer, "--chains", str(a.chains), "--warmup", str(warmup), "--samples", str(samples)])
        rows.append(row or dict(peer=peer, error=error))

best = max((r["min_ess_per_second"] for r in rows[1:] if "error" not in r), default=float("nan"))
print(f"{a.problem}, {a.chains} chains, float32, {os.cpu_count()} cores; warm-up included, compilation excluded")
print(f"{'sampler':<34} {'iterations':>12} {'seconds':>9} {'min ESS':>10} {'min ESS/s':>11} {'R-hat':>7} {'to best peer':>13}")
for r in rows:
    if "error" in r:
        print(f"{r['peer']:<34} failed: {r['error']}")
        continue
    low = min(r["ess_min"], r["ess_squares_min"])
    print(f"{r['peer']:<34} {str(r['warmup']) + '+' + str(r['samples']):>12} {r['seconds_warm']:9.3f} {low:10.0f} {r['min_ess_per_second']:11.0f} {r['rhat_max']:7.4f} {r['min_ess_per_second'] / best:13.2f}")
if a.output:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
    with open(a.output, "w") as f:
        json.dump(dict(date=datetime.date.today().isoformat(), commit=commit, machine=platform.processor() or platform.machine(), cores=os.cpu_count(), device=a.device, rows=rows), f, indent=1)
