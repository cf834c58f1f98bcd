#!/usr/bin/env python3
"""Stan programs with known answers: the default with nothing said, beside NUTS as Stan runs it, on the same programs.

  python3 bench/posteriordb.py [POSTERIOR ...] [--suite ../shared/posteriordb] [--seconds 60] [--peer nuts|pystan|none]

A posterior is a folder of the suite: model.stan, data.json and, where the answer is known, reference.json (means, means of
squares and their errors). Ours: `kilochain sample --target stan --model ... --data ...` and no other setting than a limit of
time. The peer: "nuts" is this program's NUTS with Stan's defaults, 4 chains of 1 000 + 1 000 that adapt alone; "pystan" is
Stan's own, by the script in --pystan-script. Both are scored here: |z| of every mean and mean of squares against the
reference, in standard errors of both; the smallest effective sample size of the parameters and of their squares, in all and
a second of warm-up and sampling. Compilation is not counted. "agrees": every |z| below 4 of a run that was not cut short.
Prints a table, and adds a line of JSON for each run to --output. Needs numpy, and h5py to read the files of draws.
"""
import argparse, datetime, json, os, platform, subprocess, sys, tempfile, time

from scoring import STATUS, score

here = os.path.dirname(os.path.abspath(__file__))
default_suite = os.path.join(here, "..", "..", "shared", "posteriordb")
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("posteriors", nargs="*", help="names, or beginnings of names; without any the whole suite")
p.add_argument("--suite", default=default_suite)
p.add_argument("--models", help="folder of POSTERIOR.so, compiled before by `kilochain stan compile -o`")
p.add_argument("--seconds", type=int, default=60, help="limit of each run")
p.add_argument("--seed", type=int, default=1)
p.add_argument("--peer", choices=["nuts", "pystan", "none"], default="nuts")
p.add_argument("--pystan-script", default=os.path.join(here, "..", "..", "shared", "peers", "bench_stan.py"))
p.add_argument("--python", default=sys.executable, help="the Python that has pystan")
p.add_argument("--kilochain", default=os.path.join(here, "..", "build", "release", "kilochain"))
p.add_argument("--flags", default="", help="further flags of our run, in one text: for experiments")
p.add_argument("--output", default=os.path.join(here, "results", f"{datetime.date.today()}-posteriordb-cpu.jsonl"))
a = p.parse_args()

STAN_NUTS = ["--sampler", "nuts", "--adapt-scope", "chain", "--num-chains", "4", "--num-warmup", "1000", "--num-samples", "1000"]


def sampled(folder, flags, name):
    """One run of this program, scored."""
    reference = json.load(open(os.path.join(folder, "reference.json"))) if os.path.exists(os.path.join(folder, "reference.json")) else None
    with tempfile.TemporaryDirectory() as scratch:
        file = os.path.join(scratch, "draws.nc")
        compiled = os.path.join(a.models or "", os.path.basename(folder) + ".so")
        model = compiled if a.models and os.path.exists(compiled) else os.path.join(folder, "model.stan")
        command = [a.kilochain, "sample", "--target", "stan", "--model", model, "--data", os.path.join(folder, "data.json"),
                   "--seed", str(a.seed), "--max-seconds", str(a.seconds), "--output", file, "--json", "--quiet", *flags]
        row = dict(posterior=os.path.basename(folder), sampler=name)
        begin = time.time()
        try:
            out = subprocess.run(command, capture_output=True, text=True, timeout=a.seconds + 600)
        except subprocess.TimeoutExpired:
            return dict(row, status="killed")
        row["status"] = STATUS.get(out.returncode, str(out.returncode))
        row["seconds_cold"] = round(time.time() - begin, 2)
        if not out.stdout.startswith("{"):
            return dict(row, error=out.stderr.strip()[-300:])
        run = json.loads(out.stdout)
        seconds = run["seconds"]["total"]
        row.update(sampler=run["sampler"] if name == "default" else name, default=name == "default", seconds=round(seconds, 2), warmup=run["num_warmup"],
                   rhat_max=run["rhat_max"], divergences=run["divergences"], gradients=run["gradient_evaluations"])
        if run.get("reason"):
            row["reason"] = run["reason"][:200]
        if run["num_samples"] == 0:
            return dict(row, error="nothing was drawn")
        try:
            row.update(score(file, reference, seconds))
        except (OSError, KeyError, ValueError, IndexError) as error:
            row["error"] = f"{type(error).__name__}: {error}"
        return row


def pystan(folder):
    row = dict(posterior=os.path.basename(folder), sampler="Stan NUTS (pystan)")
    try:
        out = subprocess.run([a.python, a.pystan_script, folder, "--seed", str(a.seed)], capture_output=True, text=True, timeout=a.seconds + 300)
    except subprocess.TimeoutExpired:
        return dict(row, status="out of time")
    lines = [line for line in out.stdout.splitlines() if line.startswith("{")]
    return dict(row, status="done", **{k: v for k, v in json.loads(lines[-1]).items() if k not in row}) if lines else dict(row, status="failed", error=out.stderr.strip()[-300:])


def agrees(row):
    return row.get("status") == "done" and row.get("z_max") is not None and row["z_max"] < 4


def cells(row):
    if "min_ess" not in row:
        return f"{row['status']:<13} {(row.get('error') or '').splitlines()[-1][:60] if row.get('error') else '':<34}"
    z = f"{row['z_max']:6.2f}" if row["z_max"] is not None else "     -"
    return f"{row['status']:<13} {z} {row['min_ess_per_second']:10.1f} {row['seconds']:8.2f}     "


if not os.path.isdir(a.suite):
    sys.exit(f"{a.suite}: no folder of posteriors. Name one with --suite?")
found = sorted(n for n in os.listdir(a.suite) if os.path.exists(os.path.join(a.suite, n, "model.stan")))
chosen = [n for n in found if not a.posteriors or any(n.startswith(b) for b in a.posteriors)]
if not chosen:
    sys.exit(f"no posterior of {a.suite} begins so. There are: {', '.join(found)}")
commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
where = dict(date=datetime.date.today().isoformat(), commit=commit, machine=platform.processor() or platform.machine(), cores=os.cpu_count())
print(f"{os.cpu_count()} cores, at most {a.seconds} s a run; peer: {'NUTS of this program, 4 chains of 1000 + 1000' if a.peer == 'nuts' else a.peer}")
print(f"{'posterior':<46} {'default':<13} {'|z|':>6} {'min ESS/s':>10} {'seconds':>8}     {'peer':<13} {'|z|':>6} {'min ESS/s':>10} {'seconds':>8}")
good = peers_good = known = ahead = both = 0
for name in chosen:
    folder = os.path.join(a.suite, name)
    ours = sampled(folder, a.flags.split(), "default")
    peer = None if a.peer == "none" else pystan(folder) if a.peer == "pystan" else sampled(folder, STAN_NUTS, "nuts, 4 chains")
    print(f"{name[:46]:<46} {cells(ours)}{cells(peer) if peer else ''}", flush=True)
    with open(a.output, "a") as out:
        for row in filter(None, (ours, peer)):
            out.write(json.dumps(dict(row, **where)) + "\n")
    known += ours.get("z_max") is not None or bool(peer and peer.get("z_max") is not None)
    good += agrees(ours)
    peers_good += bool(peer and agrees(peer))
    if peer and "min_ess" in ours and "min_ess" in peer:
        both += 1
        ahead += ours["min_ess_per_second"] > peer["min_ess_per_second"]
print(f"done and every |z| < 4: {good} of {known} with a reference" + (f", the peer {peers_good}; more min ESS/s than the peer: {ahead} of {both}" if a.peer != "none" else ""))
