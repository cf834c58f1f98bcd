#!/usr/bin/env python3
"""Gradients a second of Stan programs: Stan's own loop over bs_log_density_gradient, the same through --target stan, and of the
same posterior as a C++ model where there is one. A second is one of each thread's own processor time.

  python3 bench/stan_gradients.py [POSTERIOR ...] [--suite ../shared/posteriordb] [--threads 1 2]

A posterior is a folder of the suite with model.stan and data.json. Prints a table, and writes a line of JSON for each posterior
and number of threads to --output. Programs are compiled first, unless --models has them.
"""
import argparse, datetime, json, os, platform, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
p.add_argument("posteriors", nargs="*", help="names, or beginnings of names; without any the whole suite")
p.add_argument("--suite", default=os.path.join(here, "..", "..", "shared", "posteriordb"))
p.add_argument("--models", help="folder of POSTERIOR.so, compiled before by `kilochain stan compile -o`")
p.add_argument("--threads", type=int, nargs="+", default=[1, os.cpu_count()])
p.add_argument("--build", default=os.path.join(here, "..", "build", "bench"), help="where kilochain and bench/bench_external are")
p.add_argument("--output", default=os.path.join(here, "results", f"{datetime.date.today()}-stan-gradients-cpu.jsonl"))
a = p.parse_args()


def machine():
    names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return names[0] if names else platform.machine()


found = sorted(n for n in os.listdir(a.suite) if os.path.exists(os.path.join(a.suite, n, "model.stan")))
chosen = [n for n in found if not a.posteriors or any(n.startswith(b) for b in a.posteriors)]
commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=here).stdout.strip()
where = dict(date=datetime.date.today().isoformat(), commit=commit, machine=machine(), cores=os.cpu_count())
models = a.models or tempfile.mkdtemp()
print(f"{where['machine']}, {os.cpu_count()} cores; gradients a second\n"
      f"{'posterior':<46} {'dim':>5} {'threads':>7} {'Stan':>11} {'here':>11} {'ratio':>7} {'C++ model':>11}")
ratios = []
for name in chosen:
    folder, library = os.path.join(a.suite, name), os.path.join(models, name + ".so")
    if not os.path.exists(library):
        subprocess.run([os.path.join(a.build, "kilochain"), "stan", "compile", os.path.join(folder, "model.stan"), "-o", library],
                       check=True, stdout=subprocess.DEVNULL)
    for threads in a.threads:
        out = subprocess.run([os.path.join(a.build, "bench", "bench_external"), "--name", name, "--threads", str(threads),
                              "--stan", library, os.path.join(folder, "data.json")], capture_output=True, text=True)
        if out.returncode:
            sys.exit(f"{name}: {out.stderr.strip()}")
        row = json.loads(out.stdout.splitlines()[-1])
        ratios.append(row["ratio"])
        model = f"{row['model_per_second']:11d}" if "model_per_second" in row else ""
        print(f"{name[:46]:<46} {row['dim']:5d} {threads:7d} {row['stan_per_second']:11d} {row['target_per_second']:11d} "
              f"{row['ratio']:7.3f} {model}", flush=True)
        with open(a.output, "a") as file:
            file.write(json.dumps(dict(row, **where)) + "\n")
print(f"{len(ratios)} ratios: least {min(ratios):.3f}, median {sorted(ratios)[len(ratios) // 2]:.3f}, below 0.98: {sum(r < 0.98 for r in ratios)}")
