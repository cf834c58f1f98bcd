#!/usr/bin/env python3
"""Two threads beside a busy process on each core: pooled iterations that meet at barriers, idle and busy, beside --threads 1.

  python3 bench/busy_cores.py [--kilochain build/release/kilochain] [--runs 5] [--cores 2] [--output FILE]

1 700 iterations (1 000 of warm-up) of 1 024 chains on N(0, I_5), pooled. Ways in turn in every round, so that all see the same
minutes; medians of warm-up and sampling in seconds, and of the ratios of a round. Met: busy at most 2.3 times idle, and at
most --threads 1 in the same company. Adds a line of JSON for each sampler to --output.
"""
import argparse, datetime, json, os, platform, statistics, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("--kilochain", default=os.path.join(here, "..", "build", "release", "kilochain"))
p.add_argument("--runs", type=int, default=5)
p.add_argument("--cores", type=int, default=2)
p.add_argument("--output", default=os.path.join(here, "results", f"{datetime.date.today()}-busy-cores-cpu.jsonl"))
a = p.parse_args()


def seconds(sampler, threads, covariance):
    out = subprocess.run([a.kilochain, "sample", "--target", "gaussian", "--covariance", covariance, "--sampler", sampler, "--adapt-scope", "pooled",
                          "--num-chains", "1024", "--num-warmup", "1000", "--num-samples", "700", "--draws", "none", "--device", "cpu",
                          "--threads", str(threads), "--json", "--quiet"], capture_output=True, text=True)
    if not out.stdout.startswith("{"):
        sys.exit(out.stderr)
    return json.loads(out.stdout)["seconds"]["total"]


commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
where = dict(date=datetime.date.today().isoformat(), commit=commit, machine=platform.processor() or platform.machine(), cores=os.cpu_count())
with tempfile.TemporaryDirectory() as scratch:
    covariance = os.path.join(scratch, "identity.csv")
    with open(covariance, "w") as file:
        file.writelines(",".join(str(int(i == j)) for j in range(5)) + "\n" for i in range(5))
    for sampler in ("adaptive_metropolis", "gad_mala_fast"):
        times = {}
        for _ in range(a.runs):
            for busy in (False, True):
                others = [subprocess.Popen(["taskset", "-c", str(core), sys.executable, "-c", "while True: pass"]) for core in range(a.cores if busy else 0)]
                try:
                    for threads in (a.cores, 1):
                        times.setdefault((busy, threads), []).append(seconds(sampler, threads, covariance))
                finally:
                    for other in others:
                        other.kill()
                        other.wait()
        middle = {k: statistics.median(v) for k, v in times.items()}
        over_idle = statistics.median(b / i for b, i in zip(times[True, a.cores], times[False, a.cores]))
        over_one = statistics.median(b / i for b, i in zip(times[True, a.cores], times[True, 1]))
        over_one_idle = statistics.median(b / i for b, i in zip(times[False, a.cores], times[False, 1]))
        print(f"{sampler:<20} idle {middle[False, a.cores]:.2f} s (one thread {middle[False, 1]:.2f}), busy {middle[True, a.cores]:.2f} (one {middle[True, 1]:.2f}); "
              f"busy to idle {over_idle:.2f}, to one thread busy {over_one:.2f}, idle {over_one_idle:.2f}", flush=True)
        with open(a.output, "a") as out:
            out.write(json.dumps(dict(sampler=sampler, busy_to_idle=round(over_idle, 3), busy_to_one_thread=round(over_one, 3), idle_to_one_thread=round(over_one_idle, 3),
                                      seconds={f"{'busy' if b else 'idle'}, {t} threads": v for (b, t), v in times.items()}, **where)) + "\n")
