"""The model behind bench/roofline.py: what devices are said to reach, what nvcc made of the kernels, and what a kernel must cost.
Standard library only; nvcc is needed unless its report is given, a GPU is not."""
import math, os, re, subprocess, sys

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# ---- devices: NVIDIA's data sheets (SXM); L2 and shared bandwidth from the clock and the width of the paths.
DEVICES = {
    "H100": dict(sms=132, hbm=3.35e12, l2=5.5e12, l1=132 * 128 * 1.755e9, float32=66.9e12, tf32=494.7e12, bf16=989.4e12, l2_bytes=50e6),
    "H200": dict(sms=132, hbm=4.8e12, l2=5.5e12, l1=132 * 128 * 1.755e9, float32=66.9e12, tf32=494.7e12, bf16=989.4e12, l2_bytes=50e6),
}
# What a prediction assumes beside the floor. on_gpu.sh measures the ceilings of copies and products themselves.
REACHED = dict(memory=0.85, product=0.75, pipe=0.5)
NODE = 1.2e-6  # seconds from the end of a graph's node to the beginning of the next
# Latencies in clocks: round figures of published micro-benchmarks of Hopper, assumptions here. A warp that streams a row has
# IN_FLIGHT loads of 128 bytes on the way (nvcc unrolls such loops four times).
CLOCK = 1.755e9
LATENCY = dict(hbm=650, l2=270, l1=40, shuffle=27, add=4)
IN_FLIGHT = 4
MEETING = 1.5e-6  # of the grid, seconds
SM_REGISTERS, SM_SHARED, SM_WARPS, SM_BLOCKS = 65536, 227 << 10, 64, 32

SOURCES = [
    ("host/registry/instantiate/sampler.cu", ["-DKILOCHAIN_NAME=gad_mala_fast", "-DKILOCHAIN_TYPE=GadMalaFast"]),
    ("host/registry/instantiate/target.cu", ["-DKILOCHAIN_NAME=logistic_regression", "-DKILOCHAIN_TYPE=LogisticRegression"]),
    ("host/registry/instantiate/target.cu", ["-DKILOCHAIN_NAME=gaussian", "-DKILOCHAIN_TYPE=Gaussian"]),
    ("targets/logistic_cuda.cu", []),
    ("host/registry/instantiate/sampler.cu", ["-DKILOCHAIN_NAME=cma", "-DKILOCHAIN_TYPE=Cma"]),
    ("host/registry/instantiate/sampler.cu", ["-DKILOCHAIN_NAME=adaptive_metropolis", "-DKILOCHAIN_TYPE=AdaptiveMetropolis"]),
    ("host/registry/instantiate/sampler.cu", ["-DKILOCHAIN_NAME=nuts", "-DKILOCHAIN_TYPE=Nuts"]),
]
OF_MODEL = {"LogisticRegression<": " logistic", "Gaussian<": " gaussian"}
OF_SAMPLER = {"GadMalaFast<": "", "Cma<": " of cma", "AdaptiveMetropolis<": " of adaptive_metropolis", "Nuts<": " of nuts", "Hmc<": " of hmc"}


def ptxas_report(log):
    if log:
        return open(log).read()
    text = ""
    for source, definitions in SOURCES:
        command = ["nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-I.", "-Iinclude", "-arch=sm_90", "-DKILOCHAIN_HAS_CUDA=1",
                   "-Xptxas=-v", "-c", source, "-o", os.devnull, *definitions]
        r = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if r.returncode:
            sys.exit(f"roofline: {' '.join(command)}\n{r.stderr}")
        text += r.stderr
    return text


def kernels_of(report):
    """{name: registers and shared bytes} of the float kernels for sm_90."""
    out, name = {}, None
    for line in report.splitlines():
        found = re.search(r"Compiling entry function '(\w+)' for 'sm_90'", line)
        if found:
            name = found[1]
        elif "Compiling entry function" in line:
            name = None
        used = re.search(r"Used (\d+) registers", line)
        if used and name:
            shared = re.search(r"(\d+) bytes smem", line)
            out[name] = dict(registers=int(used[1]), shared=int(shared[1]) if shared else 0)
            name = None
    names = subprocess.run(["c++filt"], input="\n".join(out), capture_output=True, text=True).stdout.split("\n")
    result = {}
    for mangled, full in zip(out, names):
        short = re.search(r"(?:\w+::)*(\w+)[<(]", full)
        if not short or "double" in full.split("(")[0] or "SoftmaxTerms<" in full:
            continue
        key = short[1]
        if key == "evaluate_chains":  # of the two models below, not of all that a whole build knows
            of = next((of for name, of in OF_MODEL.items() if "::" + name in full), None)
            if of is None:
                continue
            key += of
        if key in ("evaluate_blocks", "iterate_blocks", "iterate_warps"):
            of = next((of for name, of in OF_MODEL.items() if "::" + name in full), None)
            if of is None:
                continue
            key += of
        if key.split()[0] in ("iterate_blocks", "iterate_warps", "advance_chains", "advance_with_products", "place_chains", "pool_tiles", "pool_rows", "pool_adapt"):
            of = next((of for name, of in OF_SAMPLER.items() if "::" + name in full), None)
            if of is None:
                continue
            key += of
        result[key] = out[mangled]
    return result


def occupancy(kernel, threads):
    """Warps that a multiprocessor holds."""
    warps = threads // 32
    of_block = math.ceil(kernel["registers"] * 32 / 256) * 256 * warps
    blocks = min(SM_BLOCKS, SM_WARPS // warps, SM_REGISTERS // of_block)
    if kernel["shared"]:
        blocks = min(blocks, SM_SHARED // (kernel["shared"] + 1024))
    return blocks * warps


class Kernel:
    """Bytes of device memory, of L2 and of the path to L1 and shared memory; flops, and on which unit; blocks and threads."""

    def __init__(self, name, compiled, threads, blocks, hbm=0.0, l2=0.0, l1=0.0, flops=0.0, unit="float32", product=False, node=NODE, least=0.0, chain=0.0, meetings=0):
        """chain: clocks that a warp's steps take which wait for each other; where it works for several chains, one after another, all of theirs."""
        self.node, self.least, self.chain, self.meetings = node, least, chain, meetings
        self.name, self.compiled, self.threads, self.blocks = name, compiled, threads, blocks
        self.hbm, self.l2, self.l1, self.flops, self.unit, self.product = hbm, l2, l1, flops, unit, product
        self.warps = occupancy(compiled, threads) if compiled else None

    def parts(self, device):
        d = DEVICES[device]
        busy = min(1.0, self.blocks / d["sms"])  # few blocks cannot use the whole device's paths
        rate = d[self.unit]
        return dict(hbm=self.hbm / d["hbm"], l2=self.l2 / (d["l2"] * busy), l1=self.l1 / (d["l1"] * busy), flops=self.flops / (rate * busy))

    def floor(self, device):
        return max(self.parts(device).values())

    def bound(self, device):
        parts = self.parts(device)
        return max(parts, key=parts.get)

    def latency(self, device):
        """Seconds by waiting alone: the steps of one warp, as often as warps must take turns; bytes on the way at a time."""
        if self.product or not self.warps:
            return 0.0
        d = DEVICES[device]
        all_warps = self.blocks * self.threads // 32
        at_once = min(all_warps, d["sms"] * self.warps)
        steps = math.ceil(all_warps / at_once) * self.chain / CLOCK + self.meetings * MEETING
        streams = sum(getattr(self, memory) * LATENCY[memory] / CLOCK / (at_once * IN_FLIGHT * 128) for memory in ("hbm", "l2"))
        return max(steps, streams)

    def predicted(self, device):
        p = self.parts(device)
        if self.product:
            best = max(p["flops"] / REACHED["product"], p["hbm"] / REACHED["memory"], p["l2"] / REACHED["memory"], self.least)
        else:
            best = max(p["hbm"] / REACHED["memory"], p["l2"] / REACHED["memory"], p["l1"] / REACHED["pipe"], p["flops"] / REACHED["pipe"], self.latency(device))
        return best + self.node
