"""The checks and timings of bench/on_gpu.sh, which finds the programs and libraries. Standard library only."""
import argparse, datetime, json, math, os, shutil, subprocess, sys, time

p = argparse.ArgumentParser(description=__doc__)
p.add_argument("--build", required=True)
p.add_argument("--output", required=True)
p.add_argument("--data", required=True)
p.add_argument("--peers", required=True)
p.add_argument("--quick", action="store_true")
a = p.parse_args()
here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
program, tests = os.path.join(a.build, "kilochain"), os.path.join(a.build, "tests", "test_gpu")
failures = []

def run(command, seconds=540, quiet=False):
    """(exit status, standard output, standard error); a run past its time counts as failed."""
    begin = time.time()
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        status, out, err = r.returncode, r.stdout, r.stderr
    except subprocess.TimeoutExpired as e:
        status, out, err = 124, str(e.stdout or ""), f"past {seconds} s"
    if not quiet:
        print(f"[{time.time() - begin:7.1f} s, status {status}] {' '.join(map(str, command))}", flush=True)
    return status, out, err

def line_of(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=root).stdout.strip()
    except OSError:
        return ""

stamp = dict(date=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
             device=line_of(["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]) or "none",
             commit=line_of(["git", "rev-parse", "--short", "HEAD"]) or os.environ.get("KILOCHAIN_COMMIT", "unknown"), host_cores=os.cpu_count())

def keep(name, content):
    with open(os.path.join(a.output, name), "w") as f:
        json.dump(dict(stamp, **content), f, indent=1)

predictions = {}
if os.path.exists(os.path.join(here, "roofline.json")):
    with open(os.path.join(here, "roofline.json")) as f:
        for row in json.load(f)["rows"]:
            predictions[row["target"], row["chains"], row["matmul"], row["phase"]] = row["H200" if "H200" in stamp["device"] else "H100"]

def check(name, ok, detail=""):
    print(("ok     " if ok else "FAILED ") + name + (": " + detail if detail else ""), flush=True)
    if not ok:
        failures.append(name)

print(json.dumps(stamp), flush=True)

# ---- checks -------------------------------------------------------------------------------------------------------
status, out, err = run([tests, "--gtest_brief=1"])
ran = "SKIPPED ALOUD" not in out
check("gpu tests", status == 0 and ran, "" if status == 0 and ran else (out + err)[-3000:])
if not ran:
    sys.exit("on_gpu: there is no device to check")

sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
if os.path.exists(sanitizer):
    small = "GpuDraws.*:GpuTargets.DoubleIsTheHosts:GpuSamplers.AChain*:GpuSamplers.Draws*:GpuSamplers.LoadedChains*"
    for tool in ["memcheck", "racecheck", "initcheck", "synccheck"]:
        status, out, err = run([sanitizer, "--tool", tool, "--error-exitcode", "9", tests, "--gtest_brief=1", "--gtest_filter=" + small], 280)
        check("compute-sanitizer " + tool, status == 0, "" if status == 0 else (out + err)[-2000:])
else:
    print("SKIPPED ALOUD: no compute-sanitizer here", flush=True)

# ---- ceilings -----------------------------------------------------------------------------------------------------
ceilings = os.path.join(a.build, "bench", "ceilings")
if os.path.exists(ceilings):
    status, out, err = run([ceilings], 300)
    check("ceilings", status == 0 and not err, err)
    if status == 0:
        print(out.strip(), flush=True)
        keep("cuda-ceilings.json", json.loads(out))
else:
    print("SKIPPED ALOUD: no bench/ceilings in this build (-DKILOCHAIN_BENCH=ON)", flush=True)

def data(name):
    return os.path.join(a.data, name)

targets = {
    "german": ["--target", "logistic_regression", "--data", data("german.csv")],
    "caravan": ["--target", "logistic_regression", "--data", data("caravan.csv")],
    "mnist": ["--target", "logistic_regression", "--images", data("mnist56-images-idx3-ubyte.gz"), "--labels", data("mnist56-labels-idx1-ubyte.gz")],
    "neal": ["--target", "gaussian", "--preset", "neal_gaussian"],
    "challenger": ["--target", "logistic_regression", "--data", os.path.join(root, "data", "challenger.csv")],
}

def sample(target, device, chains, warmup, samples, seed=1, draws="moments", more=(), seconds=540, sampler="gad_mala_fast", scope="pooled"):
    command = [program, "sample", *targets[target], "--sampler", sampler, "--adapt-scope", scope, "--device", device, "--num-chains", str(chains),
               "--num-warmup", str(warmup), "--num-samples", str(samples), "--seed", str(seed), "--draws", draws, "--json", "--quiet", *more]
    status, out, err = run(command, seconds)
    if status not in (0, 4, 6) or not out.lstrip().startswith("{"):
        return dict(error=(err or out)[-1000:], command=command)
    return dict(json.loads(out), command=command[1:])

def agree(target, chains, warmup, samples, cpu_chains):
    """Posterior means of two devices, other seeds, within 4 standard errors in every coordinate."""
    gpu = sample(target, "cuda", chains, warmup, samples, seed=1)
    cpu = sample(target, "cpu", cpu_chains, warmup, samples, seed=2)
    if "error" in gpu or "error" in cpu:
        return check("agreement on " + target, False, gpu.get("error") or cpu.get("error"))
    z = [abs(g["mean"] - c["mean"]) / math.hypot(g["mcse_mean"], c["mcse_mean"]) for g, c in zip(gpu["parameters"], cpu["parameters"])]
    check("agreement on " + target, max(z) <= 4 and len(gpu["parameters"]) == len(cpu["parameters"]), f"largest difference {max(z):.2f} standard errors of {len(z)} coordinates")
    keep(f"agreement-{target}.json", dict(largest_z=max(z), gpu=gpu, cpu=cpu))

agree("challenger", 256, 1000, 2000, 256)
if os.path.exists(data("german.csv")):
    agree("german", 1024, 1000, 1000, 256)
    if not a.quick:
        agree("mnist", 1024, 2000, 600, 64)
else:
    print("SKIPPED ALOUD: no data in " + a.data, flush=True)

# ---- timings ------------------------------------------------------------------------------------------------------
cases = [("neal", n, 500, 500) for n in ((1024,) if a.quick else (256, 1024, 4096, 16384))]
if os.path.exists(data("german.csv")):
    cases += [("german", n, 1000, 1000) for n in ((1024,) if a.quick else (256, 1024, 4096, 16384))]
    if not a.quick:
        cases += [("caravan", n, 1000, 500) for n in (256, 1024, 4096, 16384)]
        cases += [("mnist", 256, 1000, 200), ("mnist", 1024, 1000, 200), ("mnist", 4096, 300, 100), ("mnist", 16384, 100, 50)]
table = []
for target, chains, warmup, samples in cases:
    kept = sample(target, "cuda", chains, warmup, samples)
    bare = sample(target, "cuda", chains, warmup, samples, draws="none")  # without the host's streaming summary
    for what, r in (("moments", kept), ("none", bare)):
        if "error" in r:
            print(f"{target} {chains} ({what}): {r['error']}", flush=True)
            continue
        s = r["seconds"]
        expected = {phase: predictions.get((target, chains, "float32", phase), {}) for phase in ("warm-up", "sampling")}
        table.append(dict(target=target, chains=chains, draws=what, predicted_warmup_us=expected["warm-up"].get("predicted_us"),
                          predicted_sampling_us=expected["sampling"].get("predicted_us"),
                          predicted_min_ess_per_second=expected["sampling"].get("min_ess_per_second"), warmup_us=1e6 * s["warmup"] / warmup, sampling_us=1e6 * s["sampling"] / samples,
                          ns_per_chain_iteration=1e9 * s["sampling"] / samples / chains, min_ess_per_second=r.get("min_ess_per_second"), rhat_max=r.get("rhat_max")))
    keep(f"cuda-{target}-{chains}.json", dict(moments=kept, none=bare))
if os.path.exists(data("german.csv")) and not a.quick:  # which evaluator is better where: the threshold in logistic_cuda.cu
    for target in ("german", "caravan"):
        for evaluator in ("team", "gemm"):
            r = sample(target, "cuda", 1024, 500, 500, draws="none", more=("--evaluator", evaluator))
            if "error" not in r:
                table.append(dict(target=f"{target} by {evaluator}", chains=1024, draws="none", warmup_us=1e6 * r["seconds"]["warmup"] / 500,
                                  sampling_us=1e6 * r["seconds"]["sampling"] / 500, ns_per_chain_iteration=1e9 * r["seconds"]["sampling"] / 500 / 1024))
if os.path.exists(data("german.csv")):  # trees of many depths side by side, against trajectories of one length: gradients a second
    rate = {}
    for sampler in ("hmc", "nuts"):
        r = sample("german", "cuda", 1024, 300, 300, draws="none", sampler=sampler, scope="chain")
        if "error" in r:
            print(f"german {sampler}: {r['error']}", flush=True)
            continue
        both = r["seconds"]["warmup"] + r["seconds"]["sampling"]
        rate[sampler] = r["gradient_evaluations"] / both
        table.append(dict(target=f"german by {sampler}", chains=1024, draws="none", warmup_us=1e6 * r["seconds"]["warmup"] / 300,
                          sampling_us=1e6 * r["seconds"]["sampling"] / 300, ns_per_chain_iteration=1e9 * r["seconds"]["sampling"] / 300 / 1024,
                          gradients_per_second=rate[sampler]))
    if len(rate) == 2:
        print(f"german, 1024 chains: nuts {rate['nuts']:.3g}, hmc {rate['hmc']:.3g} gradients a second: {rate['hmc'] / rate['nuts']:.2f} times the cost", flush=True)
keep("cuda-timings.json", dict(rows=table))

# ---- peers --------------------------------------------------------------------------------------------------------
probe = "import jax, numpyro, blackjax, optax, netCDF4; assert jax.devices()[0].platform in ('gpu', 'cuda'), jax.devices()"
status, _, err = run([sys.executable, "-c", probe], 120, quiet=True)
if status == 0 and os.path.exists(a.peers) and not a.quick:
    for chains in ("1024", "4096"):
        run([sys.executable, os.path.join(here, "compare_peers.py"), "--peers", a.peers, "--data", a.data, "--kilochain", program, "--python", sys.executable,
             "--chains", chains, "--device", "cuda", "--output", os.path.join(a.output, f"cuda-peers-german-{chains}.json")])
else:
    print("SKIPPED ALOUD: peers: " + ("asked to be quick" if a.quick else (err.strip().splitlines() or ["no " + a.peers])[-1]), flush=True)

def figure(x, digits=1):
    return "-" if x is None else f"{x:.{digits}f}"

print(f"\n{'target':<18} {'chains':>7} {'draws':>8} {'warm-up us/it':>14} {'predicted':>10} {'sampling us/it':>15} {'predicted':>10} {'ns/chain-it':>12} {'min ESS/s':>12} {'predicted':>10}")
for r in table:
    print(f"{r['target']:<18} {r['chains']:>7} {r['draws']:>8} {r['warmup_us']:>14.1f} {figure(r.get('predicted_warmup_us')):>10} {r['sampling_us']:>15.1f} "
          f"{figure(r.get('predicted_sampling_us')):>10} {r['ns_per_chain_iteration']:>12.2f} {figure(r.get('min_ess_per_second'), 0):>12} "
          f"{figure(r.get('predicted_min_ess_per_second'), 0):>10}")
slow = [r for r in table if r.get("predicted_sampling_us") and r["draws"] == "none" and r["sampling_us"] > 1.5 * r["predicted_sampling_us"]]
for r in slow:
    print(f"beyond 1.5 of its prediction: {r['target']}, {r['chains']} chains: {r['sampling_us']:.1f} us for {r['predicted_sampling_us']:.1f}")
print("on_gpu: " + ("every check passed" if not failures else "FAILED: " + ", ".join(failures)))
sys.exit(1 if failures else 0)
