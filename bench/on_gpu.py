"""The steps of bench/on_gpu.sh, which finds the programs and libraries. Standard library only.

What came out is in OUTPUT/on_gpu.json (of some steps: on_gpu.STEPS.json) after each step and each run, so whoever is cut
off keeps what was done. A step that fails says so and the next one begins. Steps, in the order of what is wanted most:"""
import argparse, datetime, glob, json, math, os, re, shutil, subprocess, sys, tempfile, time

from gpu_kernels import METRICS, kernel_rows
from gpu_stand_ins import stand_ins

STEPS = {
    "tests": "tests/test_gpu, a process for each suite: without graphs, then with them",
    "ceilings": "copies, matrix products in each mode and in the shapes of the runs, the time between nodes of a graph",
    "kernels": "every kernel of an iteration by itself, by ncu where it may read the counters",
    "bars": "the rounds that have a bar: MNIST and German, 4 096 chains",
    "defaults": "what a user gets who says nothing, on German, Caravan, MNIST and Neal",
    "agreement": "posterior means of the device and of the CPU",
    "matrix": "samplers, scopes, 4 and 1 024 chains on easy Gaussians, nothing else said",
    "sanitizer": "a part of the tests under memcheck, racecheck, initcheck, synccheck",
    "sizes": "every problem at 256, 1 024, 4 096 and 16 384 chains, products in each mode",
    "samplers": "one sampler for each way of adapting, and trees beside trajectories of one length",
    "evaluators": "the ways to evaluate a logistic regression: what is chosen, a warp for each chain, products",
    "peers": "the JAX samplers on the same problem",
}
# A command of nine minutes at most each. On an H100 tests took 55 s, bars 30, kernels 60, sanitizer 60, agreement 75.
CALLS = {"1": "tests,ceilings,bars,defaults,kernels,sanitizer", "2": "agreement,matrix,sizes,samplers,evaluators", "3": "peers"}
p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter,
                            description=__doc__ + "\n" + "\n".join(f"  {k:<11} {v}" for k, v in STEPS.items()))
p.add_argument("--build", required=True)
p.add_argument("--output", required=True)
p.add_argument("--data", required=True)
p.add_argument("--peers", required=True)
p.add_argument("--steps", default=",".join(STEPS))
p.add_argument("--call", choices=CALLS, help="the steps of the first, second or third command on a new machine, 530 s at most")
p.add_argument("--problems", default="german,neal,caravan,mnist", help="of the peers")
p.add_argument("--libraries", default="", help="folders of libraries for our programs, as in LD_LIBRARY_PATH")
p.add_argument("--seconds", type=float, default=1e9, help="what is not done by then is left out")
p.add_argument("--smoke", action="store_true")
a = p.parse_args()
if a.call:
    a.steps, a.seconds, a.problems = CALLS[a.call], min(a.seconds, 530), a.problems.replace("neal,", "")
begin = time.time()
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
program, tests = os.path.join(a.build, "kilochain"), os.path.join(a.build, "tests", "test_gpu")
steps = a.steps.split(",")
a.data = os.path.abspath(a.data)
# Of our programs. The peers must not see these libraries: they come with CUDA of their own.
own = dict(os.environ, KILOCHAIN_SOURCE_DIR=root, KILOCHAIN_SHARED_DATA=a.data)
if a.libraries:
    own["LD_LIBRARY_PATH"] = ":".join(filter(None, [a.libraries, own.get("LD_LIBRARY_PATH")]))
for name in steps:
    if name not in STEPS:
        sys.exit(f"on_gpu: no step {name}. One of {', '.join(STEPS)}?")


class NoTime(Exception):
    pass


def seconds_left():
    return begin + a.seconds - time.time()


def run(command, seconds=120.0, quiet=False, **more):
    """(exit status, standard output, standard error); a run past its time counts as failed, but for lack of --seconds."""
    left = seconds_left()
    if left < min(seconds, 20):
        raise NoTime()
    at = time.time()
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=min(seconds, left), **more)
        status, out, err = r.returncode, r.stdout, r.stderr
    except subprocess.TimeoutExpired as e:
        if left < seconds:
            print(f"[{time.time() - at:6.1f} s, cut off] {' '.join(map(str, command))[:400]}", flush=True)
            raise NoTime()
        out = e.stdout or ""
        status, out, err = 124, out if isinstance(out, str) else out.decode(), f"past {min(seconds, left):.0f} s"
    if not quiet:
        print(f"[{time.time() - at:6.1f} s, status {status}] {' '.join(map(str, command))[:400]}", flush=True)
    return status, out, err


def line_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=root).stdout.strip()
    except OSError:
        return ""


for name in a.problems.split(","):
    if name not in ("german", "neal", "caravan", "mnist"):
        sys.exit(f"on_gpu: no problem {name}. One of german, neal, caravan, mnist?")
kept = dict(
    date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    device=line_of(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]) or "none",
    commit=os.environ.get("KILOCHAIN_COMMIT") or line_of(["git", "rev-parse", "--short", "HEAD"]) or "unknown",  # a pack names its own
    host_cores=os.cpu_count(), smoke=a.smoke, checks=[], not_done=[], rows=[])
failures = []


def keep():
    os.makedirs(a.output, exist_ok=True)
    path = os.path.join(a.output, "on_gpu.json" if steps == list(STEPS) else f"on_gpu.{'-'.join(steps)}.json")
    with open(path + ".new", "w") as f:
        json.dump(kept, f, indent=1)
    os.replace(path + ".new", path)


def check(name, ok, detail=""):
    detail = detail.replace(root + os.sep, "")  # results are committed: no path of this machine
    print(("ok     " if ok else "FAILED ") + name + (": " + detail if detail else ""), flush=True)
    kept["checks"].append(dict(name=name, ok=bool(ok), detail=detail))
    if not ok:
        failures.append(name)
    keep()


predictions = {}
with open(os.path.join(here, "roofline.json")) as f:
    for row in json.load(f)["rows"]:
        key = row["target"], row["chains"], row["matmul"], row.get("sampler", "gad_mala_fast"), row["phase"]
        predictions[key] = row["H200" if "H200" in kept["device"] else "H100"]


# ---- checks -------------------------------------------------------------------------------------------------------
def ran(out):
    found = re.search(r"\[  PASSED  \] (\d+) test", out)
    return int(found[1]) if found else 0


def suites():
    """Filters of test_gpu in the order of what rests on what: draws, targets, samplers one by one, the rest."""
    status, out, err = run([tests, "--gtest_list_tests"], 60, quiet=True, env=own)
    if status:
        sys.exit(f"on_gpu: {tests} does not list its tests: {err[-1000:]}")
    found = {}
    suite = ""
    for line in out.splitlines():
        name = line.split("#")[0].strip()
        if not line.startswith(" "):
            suite = name
        elif "/" in name:  # of a sampler each
            found.setdefault(f"{suite}*/{name.split('/')[1]}", None)
        else:
            found.setdefault(f"{suite}*", None)
    order = ("GpuDraws", "GpuTargets", "Registry/GpuSamplers")
    return sorted(found, key=lambda f: next((k for k, first in enumerate(order) if f.startswith(first)), len(order)))


def step_tests():
    """A fault of a kernel ends its own process; the suites that follow have a device that works."""
    chosen = [f for f in suites() if not a.smoke or f.startswith("GpuDraws")]
    for graphs in (False, True):
        environment = own if graphs else dict(own, KILOCHAIN_NO_GRAPHS="1")
        for suite in chosen:
            at = time.time()
            status, out, err = run([tests, "--gtest_brief=1", "--gtest_filter=" + suite], 90, quiet=True, env=environment)
            if "SKIPPED ALOUD: no CUDA device" in out:
                check("gpu tests", False, "no CUDA device")
                sys.exit("on_gpu: there is no device to check")
            row = dict(suite=suite, graphs=graphs, status=status, passed=ran(out), seconds=round(time.time() - at, 1),
                       failed=re.findall(r"^\[  FAILED  \] ([^ ,]+)", out, re.M), skipped=re.findall("SKIPPED ALOUD: (.*)", out))
            print(json.dumps(row), flush=True)
            kept.setdefault("suites", []).append(row)
            kept["not_done"] += ["tests: " + said for said in row["skipped"]]
            if status or not row["passed"]:
                check(f"{suite}, {'with' if graphs else 'without'} graphs", False, (out + err)[-3000:])
            keep()
    total = sum(row["passed"] for row in kept.setdefault("suites", []))
    check("gpu tests", total > 0 and not any(row["status"] or not row["passed"] for row in kept["suites"]), f"{total} passed in {len(kept['suites'])} processes")


# Racecheck sees shared memory, the others all of it; each makes a kernel many times as slow.
# Samplers: whole iterations in one kernel; a pooled factor with triangular solves; eigenvectors; trees, which wait for each other.
CHECKED = ["GpuDraws.*", "GpuTargets.DoubleIsTheHosts", "GpuAsking.AnswersDoNotDependOnWhoElseAsks",
           *(f"Registry/GpuSamplers.{test}/{sampler}" for sampler in ("gad_mala_fast", "adaptive_metropolis", "cma", "nuts")
             for test in ("AChainThatStartsAtNanIsQuarantinedAlone", "DrawsAreRecordedOnTheDevice", "LoadedChainsGoOnWithTheSameBits"))]


def step_sanitizer():
    for pattern in CHECKED:  # a filter that nothing matches would pass
        status, out, _ = run([tests, "--gtest_list_tests", "--gtest_filter=" + pattern], 60, quiet=True, env=own)
        if "\n  " not in out:
            check("the filter " + pattern, False, "no test has this name")
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    there = os.path.exists(sanitizer)
    if not there and not a.smoke:
        print("SKIPPED ALOUD: no compute-sanitizer here", flush=True)
        return kept["not_done"].append("sanitizer: there is none")
    tools = ["memcheck", "racecheck", "initcheck", "synccheck"]
    for k, tool in enumerate(tools):  # those that follow get their share of what is left
        with_it = [sanitizer, "--tool", tool, "--error-exitcode", "9"] if there else ["env"]
        # Racecheck takes minutes where the others take seconds: of the samplers the two that share memory.
        those = [c for c in CHECKED if tool != "racecheck" or c.startswith("GpuDraws") or "AChainThat" in c and c.endswith(("_metropolis", "_fast"))]
        status, out, err = run([*with_it, tests, "--gtest_brief=1", "--gtest_filter=" + (CHECKED[0] if a.smoke else ":".join(those))],
                               min(240, seconds_left() / (len(tools) - k)), env=own)
        if status == 124:
            print(f"SKIPPED ALOUD: compute-sanitizer {tool}: {err}", flush=True)
            kept["not_done"].append(f"sanitizer: {tool}: {err}")
            continue
        check("compute-sanitizer " + tool, status == 0 and ran(out) > 0, f"{ran(out)} passed" if status == 0 else (out + err)[-2000:])


# ---- ceilings -----------------------------------------------------------------------------------------------------
def step_ceilings():
    status, out, err = run([os.path.join(a.build, "bench", "ceilings")] + (["--smoke"] if a.smoke else []), 120, env=own)
    check("ceilings", status == 0 and not err, err)
    if status == 0:
        kept["ceilings"] = json.loads(out)
        print(out.strip(), flush=True)


def step_kernels():
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    if a.smoke or not os.path.exists(ncu):
        print("SKIPPED ALOUD: no ncu here", flush=True)
        return kept["not_done"].append("kernels: no ncu")
    # An iteration of German's is three launches, of the others' ten and more; the first ones place the data.
    for target, skip, more in (("german", "40", ()), ("mnist", "150", ()), ("mnist", "150", ("--matmul", "float32")), ("caravan", "150", ())):
        command = [ncu, "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join([*METRICS, "launch__grid_size", "launch__block_size"]),
                   "--launch-skip", skip, "--launch-count", "80", program, "sample", *targets[target], "--sampler", "gad_mala_fast",
                   "--device", "cuda", "--no-graphs", "--num-chains", "4096", "--num-warmup", "30", "--num-samples", "30", "--seed", "1",
                   "--draws", "none", "--quiet", *more]
        status, out, err = run(command, 150, env=own)
        rows = kernel_rows(out)
        if not rows:
            print(f"SKIPPED ALOUD: ncu on {target}: {(err or out)[-400:]}", flush=True)
            kept["not_done"].append(f"kernels of {target}: ncu gave none (status {status})")
            continue
        kept.setdefault("kernels", []).append(dict(target=target, chains=4096, how=" ".join(more), rows=rows))
        for row in rows[:12]:
            print(f"{target} {' '.join(more)}: {row['us']:9.1f} us x {row['calls']:3d}, {row['registers']:.0f} registers, "
                  f"{row['warps_percent']:.0f} % of warps, {row['blocks']} blocks of {row['threads']}: {row['kernel'][:90]}", flush=True)
        keep()


# ---- runs ---------------------------------------------------------------------------------------------------------
def data(name):
    return os.path.join(a.data, name)


targets = {
    "german": ["--target", "logistic_regression", "--data", data("german.csv")],
    "caravan": ["--target", "logistic_regression", "--data", data("caravan.csv")],
    "mnist": ["--target", "logistic_regression", "--images", data("mnist56-images-idx3-ubyte.gz"), "--labels", data("mnist56-labels-idx1-ubyte.gz")],
    "neal": ["--target", "gaussian", "--preset", "neal_gaussian"],
    "challenger": ["--target", "logistic_regression", "--data", os.path.join(root, "data", "challenger.csv")],
}


ran_before = {}


def sample(target, device, chains, warmup, samples, seed=1, draws="moments", more=(), seconds=120.0, sampler="gad_mala_fast", scope="pooled"):
    if a.smoke:
        most = 3 if sampler in ("hmc", "nuts") else 12  # enough for a graph of rounds
        chains, warmup, samples = min(chains, 4), min(warmup, most), min(samples, most)
    command = [program, "sample", *targets[target], "--sampler", sampler, "--adapt-scope", scope, "--device", device, "--num-chains", str(chains),
               "--num-warmup", str(warmup), "--num-samples", str(samples), "--seed", str(seed), "--draws", draws, "--json", "--quiet", *more]
    if " ".join(command) in ran_before:  # the CPU's half of an agreement; in a smoke run, where sizes are one, most of them
        return ran_before[" ".join(command)]
    at = time.time()
    status, out, err = run(command, seconds, env=own)
    if status not in (0, 4, 6) or not out.lstrip().startswith("{"):
        check(" ".join([f"{target} on {device}, {chains} chains", *more]), False, (err or out)[-1000:])
        return None
    r = dict(json.loads(out), command=command[1:], wall=time.time() - at, iterations=(warmup, samples))
    ran_before[" ".join(command)] = r
    return r


def agree(target, chains, warmup, samples, cpu_chains, more=()):
    """Posterior means of two devices, other seeds, within 5 standard errors in every coordinate (785 of them: false alarm 5e-4)."""
    gpu = sample(target, "cuda", chains, warmup, samples, seed=1, more=more)
    cpu = sample(target, "cpu", cpu_chains, warmup, samples, seed=2, seconds=300)
    if not gpu or not cpu:
        return
    z = [abs(g["mean"] - c["mean"]) / math.hypot(g["mcse_mean"], c["mcse_mean"]) for g, c in zip(gpu["parameters"], cpu["parameters"])
         if g["mcse_mean"] and c["mcse_mean"]]
    full = len(z) == len(gpu["parameters"]) == len(cpu["parameters"])
    detail = f"largest difference {max(z, default=0):.2f} standard errors of {len(z)} coordinates"
    check(" ".join(["agreement on", target, *more]), a.smoke or (full and max(z) <= 5), detail)


def step_agreement():
    agree("challenger", 256, 1000, 2000, 256)
    agree("german", 1024, 1000, 1000, 256)
    for way in ("float32", "bf16x3"):
        agree("mnist", 1024, 2000, 600, 64, ("--matmul", way))


def timed(target, chains, matmul="float32", sampler="gad_mala_fast", scope="pooled", more=(), name="", draws="none"):
    """A row: microseconds of an iteration of each phase, beside what is predicted: of two runs, what the longer one took more.
    So kernels that are loaded, graphs that are captured and memory that is pinned do not count. A phase should take 0.5 s more."""
    trees = sampler in ("hmc", "nuts")  # predicted is a round of theirs, of which an iteration has many
    said = [{} if trees or name else predictions.get((target, chains, matmul, sampler, phase), {}) for phase in ("warm-up", "sampling")]
    few = [40 if trees else max(40, min(20000, round(0.2e6 / s.get("predicted_us", 1000)))) for s in said]
    many = [4 * n if trees else 6 * n for n in few]
    if a.smoke:
        few, many = ([1, 1], [3, 3]) if trees else ([6, 6], [12, 12])
    # By itself it chooses by the data.
    if matmul != "float32" or (target in ("mnist", "caravan") and not {"--matmul", "--evaluator"} & set(more)):
        more = (*more, "--matmul", matmul)
    runs = dict(draws=draws, more=more, sampler=sampler, scope=scope)
    short = sample(target, "cuda", chains, *few, **runs)
    for _ in range(3):
        r = short and sample(target, "cuda", chains, *many, **runs)
        if not r:
            return None
        took = [r["seconds"][phase] - short["seconds"][phase] for phase in ("warmup", "sampling")]
        us = [1e6 * t / (n - m) if t > 0 else None for t, n, m in zip(took, many, few)]
        if a.smoke or min(took) >= 0.5:
            break
        many = [n if t >= 0.5 else m + min(200000, round(1e6 / u) if u else 20 * (n - m)) for t, u, n, m in zip(took, us, many, few)]
    gradients, all_took = r["gradient_evaluations"] - short["gradient_evaluations"], sum(took)
    row = dict(target=target, how=name, chains=chains, matmul=matmul, sampler=sampler, scope=scope, draws=draws,
               timing="difference of two runs", iterations=[short["iterations"], r["iterations"]], seconds_more=took,
               warmup_us=us[0], predicted_warmup_us=said[0].get("predicted_us"),
               sampling_us=us[1], predicted_sampling_us=said[1].get("predicted_us"),
               gradients_per_second=gradients / all_took if all_took > 0 else None, min_ess_per_second=r.get("min_ess_per_second"),
               round_us=1e6 * all_took * chains / gradients if all_took > 0 else None,
               predicted_round_us=predictions.get((target, chains, matmul, "nuts" if trees else sampler, "sampling"), {}).get("predicted_us"),
               predicted_min_ess_per_second=said[1].get("min_ess_per_second"), rhat_max=r.get("rhat_max"), device=r["device"],
               seconds=r["seconds"], cold_seconds=r["wall"], command=r["command"])
    kept["rows"].append(row)
    keep()
    return row


def ways(target):
    return ("float32", "bf16x3") if target in ("mnist", "caravan") else ("float32",)


def step_bars():
    for target in ("german", "mnist"):
        for way in ways(target):
            timed(target, 4096, way)
        timed(target, 4096, ways(target)[-1], draws="moments")


def step_defaults():
    if a.smoke:
        print("SKIPPED ALOUD: 16 scouts take an emulated device minutes", flush=True)
        return kept["not_done"].append("defaults: in a smoke run")
    for target in ("german", "caravan", "mnist", "neal"):
        for seed in (1, 2):  # the first run of a target loads its kernels
            command = [program, "sample", *targets[target], "--device", "cuda", "--seed", str(seed), "--json", "--quiet"]
            at = time.time()
            status, out, err = run(command, 60, quiet=True, env=own)
            check(f"{target}, nothing said, seed {seed}", status == 0, "" if status == 0 else (err or out)[-500:])
            if status == 0:
                r = json.loads(out)
                row = dict(target=target, seed=seed, cold_seconds=time.time() - at,
                           **{k: r[k] for k in ("seconds", "num_chains", "num_warmup", "num_samples", "min_ess_per_second", "rhat_max", "gradient_evaluations")})
                kept.setdefault("defaults", []).append(row)
                print(json.dumps(row), flush=True)


def step_matrix():
    samplers = [("ensemble_hmc", "hmc", "nuts"), ("gad_mala_fast", "gad_rwm", "entropy_hmc"), ("gad_mala_exact", "gad_mala_low_rank"), ("mala", "fisher_mala"),
                ("barker", "rwm"), ("adaptive_metropolis", "adaptive_proposal"), ("gaussian_adaptation", "cma"), ("chees_hmc", "mams")]
    if a.smoke:
        print("SKIPPED ALOUD: the matrix takes an emulated device hours", flush=True)
        return kept["not_done"].append("matrix: in a smoke run")
    running = []
    for some in samplers:  # side by side: most of a cell is the start of a process
        command = [sys.executable, os.path.join(root, "tests", "statistical", "matrix.py"), program, "--samplers", ",".join(some),
                   "--chains", "4,1024", "--targets", "normal_5,normal_1,rotated", "--max-seconds", "5", "--device", "cuda"]
        running.append((some, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=own)))
    for some, process in running:
        try:
            said, _ = process.communicate(timeout=max(1, min(150, seconds_left())))
        except subprocess.TimeoutExpired:
            process.kill()
            kept["not_done"].append("matrix: the rest of " + ", ".join(some))
            said, _ = process.communicate()
        cells = [line for line in said.splitlines() if re.search(r" status \d", line)]
        kept.setdefault("matrix", []).extend(cells)
        wrong = [line for line in cells if "WRONG" in line]
        print("\n".join(line for line in cells if "WRONG" in line or "DEAF" in line), flush=True)
        if cells or process.returncode is None or process.returncode >= 0:  # not of those that had no time for one
            check("matrix of " + ", ".join(some), not wrong and cells, f"{len(cells)} cells, {sum(' right ' in c for c in cells)} right")


def step_sizes():
    for target in ("german", "caravan", "mnist", "neal"):
        for chains in (1024, 4096, 256, 16384):
            for way in ways(target):
                if not (chains == 4096 and target in ("german", "mnist") and "bars" in steps):
                    timed(target, chains, way)
    timed("mnist", 1024, "bf16x3", draws="moments")


def step_samplers():
    for sampler in ("adaptive_metropolis", "adaptive_metropolis_haario", "gaussian_adaptation", "cma", "adaptive_proposal"):
        for target in ("german", "mnist"):
            timed(target, 4096, "float32", sampler)
    for target in ("german", "mnist"):
        timed(target, 4096, "float32", "hmc", more=("--mass", "dense", "--num-steps", "8"), name="dense mass")
        timed(target, 4096, "float32", "nuts", more=("--mass", "dense", "--max-tree-depth", "5"), name="dense mass")
    rate = {}
    for sampler in ("hmc", "nuts"):  # trees of many depths side by side, against trajectories of one length
        row = timed("german", 1024, sampler=sampler, scope="chain")
        rate[sampler] = row and row["gradients_per_second"] or math.nan
    print(f"german, 1024 chains: nuts {rate['nuts']:.3g}, hmc {rate['hmc']:.3g} gradients a second", flush=True)


def step_evaluators():
    for target in ("german", "caravan"):
        for more in (("--evaluator", "auto"), ("--evaluator", "team"), ("--matmul", "float32")):
            timed(target, 1024, more=more, name=more[1])


# ---- peers --------------------------------------------------------------------------------------------------------
def step_peers():
    for module in ("blackjax", "numpyro"):  # packed, for a machine that has JAX but not these
        wheels = glob.glob(os.path.join(a.build, "wheels", module + "-*.whl"))
        if wheels and run([sys.executable, "-c", "import " + module], 60, quiet=True)[0]:
            site = os.path.join(scratch, "site")
            run([sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--target", site, *wheels], 60)
            os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [site, os.environ.get("PYTHONPATH", "").replace(site + os.pathsep, "")]))
    probe = "import jax, numpyro; assert jax.devices()[0].platform in ('gpu', 'cuda'), jax.devices()"
    status, _, err = run([sys.executable, "-c", probe], 120, quiet=True)
    if (status != 0 and not a.smoke) or not os.path.exists(a.peers):
        why = (err.strip().splitlines() or [""])[-1] if os.path.exists(a.peers) else "no " + a.peers
        print("SKIPPED ALOUD: peers: " + why, flush=True)
        return kept["not_done"].append("peers: " + why)
    most_of = dict(german=1000, neal=1000, caravan=300, mnist=60)  # what is scored is held whole
    for problem, most in ((name, most_of[name]) for name in a.problems.split(",")):
        for chains in (1024,) if a.smoke else (1024, 4096):
            out = os.path.join(scratch, "peers.json")
            sizes = ["--chains", "4", "--sampler", "gad_mala_fast", "--num-warmup", "12", "--num-samples", "12", "--repeats", "1"] if a.smoke else [
                "--chains", str(chains), "--repeats", "3", "--most-samples", str(most), "--peer-seconds", "120"]
            try:
                status, said, err = run([sys.executable, os.path.join(here, "compare_peers.py"), "--peers", a.peers, "--data", a.data, "--kilochain", program,
                                         "--python", sys.executable, "--libraries", a.libraries, "--problem", problem, "--device", "cuda", "--output", out, *sizes], 540)
                print(said, flush=True)
                check(f"peers on {problem}, {chains} chains", status == 0, err[-1000:] if status else "")
            finally:
                if os.path.exists(out):  # of those that were done
                    with open(out) as f:
                        kept.setdefault("peers", []).append(dict(json.load(f), problem=problem, chains=chains))
                    os.remove(out)
                keep()


def figure(x, digits=1):
    return "-" if x is None else f"{x:.{digits}f}"


def table():
    print(f"\n{'target':<11} {'chains':>6} {'products':>8} {'sampler':<26} {'draws':>7} {'warm-up us':>11} {'predicted':>10} {'sampling us':>11} {'predicted':>10} {'gradients/s':>12} "
          f"{'min ESS/s':>10} {'predicted':>10}")
    for r in kept["rows"]:
        print(f"{r['target']:<11} {r['chains']:>6} {r['matmul']:>8} {r['sampler'] + (', ' + r['how'] if r['how'] else ''):<26} {r['draws']:>7} {figure(r['warmup_us']):>11} {figure(r['predicted_warmup_us']):>10} "
              f"{figure(r['sampling_us']):>11} {figure(r['predicted_sampling_us']):>10} {r['gradients_per_second'] or math.nan:>12.3g} {figure(r['min_ess_per_second'], 0):>10} {figure(r['predicted_min_ess_per_second'], 0):>10}")
    for r in kept["rows"]:
        for phase in ("warmup", "sampling"):
            said = r[f"predicted_{phase}_us"]
            if said and r["draws"] == "none" and not a.smoke and (r[phase + "_us"] or 0) > 1.5 * said:
                print(f"beyond 1.5 of its prediction: {r['target']}, {r['chains']} chains, {r['matmul']}, {r['sampler']}, {phase}: {r[phase + '_us']:.1f} us for {said:.1f}")


print(json.dumps({k: kept[k] for k in ("date", "device", "commit", "host_cores")}), flush=True)
scratch = tempfile.mkdtemp()
try:
    if a.smoke:
        stand_ins(scratch, a.libraries)
        a.data, a.peers, os.environ["PYTHONPATH"] = scratch, os.path.join(scratch, "peers.py"), scratch
        for name, file in (("german", "german.csv"), ("caravan", "caravan.csv")):
            targets[name][-1] = data(file)
        targets["mnist"][3], targets["mnist"][5] = data("mnist56-images-idx3-ubyte.gz"), data("mnist56-labels-idx1-ubyte.gz")
    elif set(steps) - {"tests", "ceilings", "sanitizer"} and not os.path.exists(data("german.csv")):
        sys.exit(f"on_gpu: no german.csv in {a.data}. Name the data's folder with --data?")
    for name in steps:
        print(f"---- {name}: {STEPS[name]}", flush=True)
        try:
            globals()["step_" + name]()
        except NoTime:
            print(f"SKIPPED ALOUD: the rest of {name}: no time is left", flush=True)
            kept["not_done"].append(name + ": no time was left")
        except Exception as e:  # a fault of this script must not cost the steps that follow
            check(name, False, f"{type(e).__name__}: {e}")
        keep()
    table()
finally:
    shutil.rmtree(scratch, ignore_errors=True)
try:
    run([sys.executable, os.path.join(here, "gpu_page.py"), a.output], 60)
except NoTime:
    print("no time is left for the page: bench/gpu_page.py " + a.output)
if kept["not_done"]:
    print("not done: " + "; ".join(kept["not_done"]))
print("on_gpu: " + (("every check passed" if not kept["not_done"] else "every check that was made passed") if not failures else "FAILED: " + ", ".join(failures)))
sys.exit(1 if failures else 0)
