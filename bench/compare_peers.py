#!/usr/bin/env python3
"""Kilochain against the samplers a user would pick instead, on one problem, in one run, scored by one script.

  python3 bench/compare_peers.py --peers ../shared/peers/bench_peers.py --data ../shared/data [--problem german]

Every program runs on all cores, 64 chains, float32, the same number of draws; the peers 500 warm-up iterations, Kilochain by
default as many as its automatic warm-up takes. Seconds are warm seconds: warm-up and sampling, without compilation
(peers) and without reading the data (Kilochain: `seconds.total` of --json), draws kept in memory by everybody: Kilochain's are
written by a second run with the same seed, whose draws are the same. Cold: with compilation, and
of Kilochain all of its process. Minimum ESS is the smaller of the worst coordinate's and the worst squared deviation's over
all chains, computed by the peers' script for everybody. Prints a table and writes JSON with --output, after each row.
Needs jax, numpyro, numpy, and netCDF4 or h5py in --python; blackjax and optax for the peers that are theirs.
"""
import argparse, datetime, json, os, platform, subprocess, sys, tempfile, time

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("--peers", required=True, help="the script that times and scores the peers")
p.add_argument("--data", required=True, help="folder of the problems' data files")
p.add_argument("--problem", default="german")
p.add_argument("--kilochain", default=os.path.join(here, "..", "build", "release", "kilochain"))
p.add_argument("--python", default=sys.executable)
p.add_argument("--libraries", default="", help="folders of libraries for Kilochain alone, as in LD_LIBRARY_PATH: peers have their own CUDA")
p.add_argument("--chains", type=int, default=64, help="of everybody")
p.add_argument("--our-chains", type=int, help="of Kilochain, where its best number is another")
p.add_argument("--sampler", help="of Kilochain, with everybody's warm-up; without it the default, whose warm-up ends by itself")
p.add_argument("--num-warmup", type=int, default=500, help="of the peers, and of Kilochain with --sampler")
p.add_argument("--num-samples", type=int, default=1000, help="draws of a chain, of everybody")
p.add_argument("--repeats", type=int, default=5, help="runs of Kilochain; the median is reported")
p.add_argument("--only-ours", action="store_true")
p.add_argument("--most-samples", type=int, default=10**9, help="at most so many draws of a chain, of peers too")
p.add_argument("--peer-seconds", type=float, default=None, help="a peer that takes longer has failed")
p.add_argument("--device", default="cpu")
p.add_argument("--output", help="JSON file to write")
a = p.parse_args()
own = dict(os.environ)
if a.libraries:
    own["LD_LIBRARY_PATH"] = ":".join(filter(None, [a.libraries, own.get("LD_LIBRARY_PATH")]))

PEERS = ["blackjax_chees_diagonal", "blackjax_meads_low_rank", "blackjax_nuts_low_rank", "numpyro_nuts_dense"]

# The posterior's one array of (chains, draws, coordinates); NetCDF-4 is HDF5.
EXPORT = """
import sys, numpy
try:
    import netCDF4
    found = [v for v in netCDF4.Dataset(sys.argv[1])["posterior"].variables.values() if v.ndim == 3]
    draws = found[0][:].filled()
except ImportError:
    import h5py
    found = [v for v in h5py.File(sys.argv[1], "r")["posterior"].values() if v.ndim == 3]
    draws = found[0][:]
numpy.save(sys.argv[2], draws)
"""

def last_json(command):
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=a.peer_seconds)
    except subprocess.TimeoutExpired:
        return None, f"past {a.peer_seconds:.0f} s"
    lines = [l for l in out.stdout.splitlines() if l.startswith("{")]
    if not lines:
        return None, (out.stderr.strip().splitlines() or ["no output"])[-1]
    return json.loads(lines[-1]), None

def ours(seed, folder):
    nc, npy = os.path.join(folder, f"{seed}.nc"), os.path.join(folder, f"{seed}.npy")
    target = ["--target", "logistic_regression", "--data", os.path.join(a.data, a.problem + ".csv")]
    if a.problem == "mnist":
        files = [os.path.join(a.data, f"mnist56-{what}-ubyte.gz") for what in ("images-idx3", "labels-idx1")]
        target = ["--target", "logistic_regression", "--images", files[0], "--labels", files[1]]
    if a.problem == "neal":
        target = ["--target", "gaussian", "--preset", "neal_gaussian"]
    sampler = ["--sampler", a.sampler, "--adapt-scope", "pooled", "--num-warmup", str(a.num_warmup)] if a.sampler else []
    command = [a.kilochain, "sample", *target, *sampler, "--real", "float", "--num-chains", str(a.our_chains or a.chains),
               "--num-samples", str(min(a.num_samples, a.most_samples)), "--seed", str(seed), "--device", a.device, "--json", "--quiet"]
    runs = []
    for file in ([], ["--output", nc]):
        begin = time.time()
        out = subprocess.run(command + file, capture_output=True, text=True, env=own)
        cold = time.time() - begin
        if out.returncode not in (0, 6):  # what has not converged has a low score, as the peers have
            sys.exit(out.stderr)
        runs.append(dict(json.loads(out.stdout), cold=cold))
    run, written = runs
    if any(run[key] != written[key] for key in ("num_warmup", "gradient_evaluations", "ess")):
        sys.exit("the run that was timed is not the one that was written")
    subprocess.run([a.python, "-c", EXPORT, nc, npy], check=True)
    score, error = last_json([a.python, a.peers, "--score", npy, "--seconds", str(run["seconds"]["total"]), "--peer", "kilochain_" + (f"{a.sampler}_pooled" if a.sampler else "default"), "--problem", a.problem])
    os.remove(nc), os.remove(npy)
    if score is None:
        sys.exit(str(error))
    return dict(score, warmup=run["num_warmup"], seconds=run["seconds"], seconds_cold=round(run["cold"], 3), acceptance_rate=run["acceptance_rate"]["mean"])

def write():
    if not a.output:
        return
    commit = os.environ.get("KILOCHAIN_COMMIT", "")  # of packed programs
    try:
        commit = commit or subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
    except OSError:  # a bare machine
        pass
    commit = commit or "unknown"
    with open(a.output, "w") as f:
        json.dump(dict(date=datetime.date.today().isoformat(), commit=commit, machine=platform.processor() or platform.machine(), cores=os.cpu_count(), device=a.device, rows=rows), f, indent=1)

rows = []
with tempfile.TemporaryDirectory() as folder:
    runs = sorted((ours(seed, folder) for seed in range(1, a.repeats + 1)), key=lambda r: r["min_ess_per_second"])
    rows.append(runs[len(runs) // 2])
    rows[0]["min_ess_per_second_range"] = [runs[0]["min_ess_per_second"], runs[-1]["min_ess_per_second"]]
write()
if not a.only_ours:
    for peer in PEERS:
        row, error = last_json([a.python, a.peers, "--data", a.data, "--problem", a.problem, "--peer", peer, "--chains", str(a.chains), "--warmup", str(a.num_warmup), "--samples", str(min(a.num_samples, a.most_samples))])
        rows.append(row or dict(peer=peer, error=error))
        write()

best = max((r["min_ess_per_second"] for r in rows[1:] if "error" not in r), default=float("nan"))
print(f"{a.problem}, {a.chains} chains, float32, {os.cpu_count()} cores; warm-up included, compilation excluded")
print(f"{'sampler':<34} {'iterations':>12} {'seconds':>9} {'min ESS':>10} {'min ESS/s':>11} {'R-hat':>7} {'to best peer':>13}")
for r in rows:
    if "error" in r:
        print(f"{r['peer']:<34} failed: {r['error']}")
        continue
    low = min(r["ess_min"], r["ess_squares_min"])
    print(f"{r['peer']:<34} {str(r['warmup']) + '+' + str(r['samples']):>12} {r['seconds_warm']:9.3f} {low:10.0f} {r['min_ess_per_second']:11.0f} {r['rhat_max']:7.4f} {r['min_ess_per_second'] / best:13.2f}")
