"""Arithmetic beside every kernel: writes bench/roofline.md and bench/roofline.json (docs: the head of the page).
usage: bench/roofline.py [--ptxas LOG]    LOG: compilers' reports (tools/check_spills.sh leaves one); else nvcc is asked here.
Standard library only; nvcc is needed, a GPU is not. Nothing here was measured on a GPU; what was stands in results/*h100.md."""
import argparse, json, math, os

from roofline_model import (CLOCK, DEVICES, IN_FLIGHT, LATENCY, MEETING, NODE, REACHED, Kernel, kernels_of, occupancy, ptxas_report,
                            root)

here = os.path.dirname(os.path.abspath(__file__))

# target: observations, coordinates, how it is evaluated, the row of docs/results/titsias2019.json with its ESS
TARGETS = {
    "mnist": dict(rows=11339, dim=785, evaluated="products", ess="mnist"),
    "caravan": dict(rows=5822, dim=86, evaluated="products", ess="caravan"),
    "german": dict(rows=1000, dim=25, evaluated="blocks", ess="german"),
    "neal": dict(rows=0, dim=100, evaluated="a warp", ess="neal_gaussian"),
}
CHAINS = (256, 1024, 4096, 16384)


def steps_of_chain(n, passes=2, together=False):
    """Clocks of a chain's own part of an iteration that wait for each other: ten sums over the warp, five shuffles each; `L^T g`,
    sixteen columns together: sixteen shuffles, five deep; a load for each column of L, a dozen rows, random numbers and logarithms."""
    a_sum = 5 * (LATENCY["shuffle"])
    own = 10 * a_sum + 12 * LATENCY["l1"] + 500
    if together:
        return own
    panels = math.ceil(n / 32)
    columns = a_sum + 16 * LATENCY["add"] + math.ceil(panels / 2) * LATENCY["l1"]  # sixteen of L^T g
    row = LATENCY["add"] + LATENCY["l1"] / IN_FLIGHT  # a column of L h, of each panel
    return own + (passes - 1) * math.ceil(n / 16) * columns + n * panels / 2 * row * (1 if panels > 1 else 2)


def issued_by_chain(n, passes):
    """Instructions of a warp for a chain's own part of an iteration, answer and products with the factor included: 1 820 in the sm_90
    code of gad_mala_fast in 25 dimensions, 366 of them for `L^T g`; other dimensions by pieces of 32 rows."""
    pieces = math.ceil(n / 32)
    return 700 + 600 * pieces + passes * 10 * n * max(1, pieces / 2)


def least_product(n):
    """The shortest product with n terms in a sum: an assumption."""
    return 2e-6 + 3e-9 * n


def factor_together(n):
    """Whether products with the factor are made of all chains at once, or by a warp for each (host/chains/cuda_products.cuh)."""
    return n >= 128


def panel_width(rows, chains):
    """Columns of a product of chains that ask: targets/asking.cuh."""
    fast = min(1024, math.ceil(330 / math.ceil(rows / 128)) * 128)
    width = min(max(math.ceil(chains // 4 / 128) * 128, 256), max(fast, 256))
    return math.ceil(math.ceil(chains / math.ceil(chains / width)) / 32) * 32


def waves(rows, columns, sms):
    """What a product of few tiles of 128 x 128 costs beside one that fills every wave of blocks."""
    tiles = math.ceil(rows / 128) * math.ceil(columns / 128)
    return math.ceil(tiles / sms) / (tiles / sms)


def asking_round(target, chains, share, matmul, device):
    """The evaluation of a round in which that share of the chains asks, in panels, and of all of them, in us."""
    t, d = TARGETS[target], DEVICES[device]
    N, n, real = t["rows"], t["dim"], 4
    row = math.ceil(n / 32) * 32 * real
    width = panel_width(N, chains)
    panels = math.ceil(share * chains / width)

    def place(bytes_):
        return dict(l2=bytes_) if bytes_ < 0.7 * d["l2_bytes"] else dict(hbm=bytes_)

    def kernels(columns, of_one):
        times, unit = (3, "bf16") if matmul == "bf16x3" else (1, "float32")
        flops, T = times * 2.0 * N * n * columns * waves(N, of_one, d["sms"]), real * math.ceil(N / 32) * 32 * columns
        return [Kernel("X W", None, 256, 10**6, flops=flops, unit=unit, product=True, node=NODE * columns / of_one, **place(T)),
                Kernel("logistic_residuals", None, 256, columns, flops=30.0 * N * columns, **place(2 * T)),
                Kernel("X^T R", None, 256, 10**6, flops=flops, unit=unit, product=True, node=NODE * columns / of_one, **place(T)),
                Kernel("logistic_answers", None, 256, columns, **place(3.0 * columns * row))]

    alone = kernels(panels * width, width)
    alone += [Kernel("select_asking", None, 1024, 1, l1=chains * 4.0 * 9, l2=chains * 8.0),
              Kernel("gather_points", None, 128, panels * width, l2=2.0 * panels * width * row)]
    return 1e6 * sum(k.predicted(device) for k in alone), 1e6 * sum(k.predicted(device) for k in kernels(chains, chains))


def chains_that_wait(w):
    w("## Chains that wait\n")
    w("Evaluation of a round of NUTS by products, 4 096 chains, H200, predicted microseconds: of the chains that ask, in panels (docs/decisions/0016-chains-that-wait.md),")
    w("and of all. Products here cost whole waves of tiles of 128 x 128.\n")
    w("| problem | products | columns of a panel | all chains | all ask | 1/2 | 1/4 | 1/10 | 1/100 |")
    w("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for target in ("mnist", "caravan"):
        for matmul in ("float32", "bf16x3"):
            found = [asking_round(target, 4096, share, matmul, "H200") for share in (1, 0.5, 0.25, 0.1, 0.01)]
            w(f"| {target} | {matmul} | {panel_width(TARGETS[target]['rows'], 4096)} | {found[0][1]:.0f} | " + " | ".join(f"{f[0]:.0f}" for f in found) + " |")
    w("")


def round_of(target, chains, compiled, matmul, warm_up, device):
    t = TARGETS[target]
    N, n, C, real = t["rows"], t["dim"], chains, 4
    row = math.ceil(n / 32) * 32 * real
    padded = math.ceil(N / 32) * 32
    d = DEVICES[device]
    out = []

    def place(bytes_):  # data that stay in L2 from kernel to kernel do not load device memory
        return dict(l2=bytes_) if bytes_ < 0.7 * d["l2_bytes"] else dict(hbm=bytes_)

    warps = 4 if C >= 2048 else 2 if C >= 512 else 1
    blocks = math.ceil(C / warps)
    if t["evaluated"] == "products":
        times = {"float32": 1, "bf16x3": 3}[matmul]
        unit = {"float32": "float32", "bf16x3": "bf16"}[matmul]
        T = real * padded * C
        X = real * N * math.ceil(n / 32) * 32 / (2 if matmul == "bf16x3" else 1)
        split = 1.5 if matmul == "bf16x3" else 1  # three parts of two bytes
        thirds = 3 if matmul == "bf16x3" else 1  # of X and of what it meets, side by side
        product = dict(flops=times * 2.0 * N * n * C, unit=unit, product=True)
        if matmul == "bf16x3":
            out.append(Kernel("split_points", compiled["split_points"], 128, math.ceil(C * row / real / 128), **place((1 + thirds * split / 3) * C * row)))
        out.append(Kernel("X W (cuBLAS)", None, 256, 10**6, **(place(thirds * X + T + split * C * row)), **product))
        out.append(Kernel("design_residuals", compiled["design_residuals"], 256, C, flops=30.0 * N * C, **place((1 + split) * T)))
        out.append(Kernel("X^T R (cuBLAS)", None, 256, 10**6, **(place(X + split * T + C * row)), **product))
        out.append(Kernel("design_answers", compiled["design_answers"], 256, C, **place(3.0 * C * row)))
    elif t["evaluated"] == "a warp":  # iterate_warps: nothing is launched for an evaluation; its instructions are the model's
        in_block, issued = 4, 30.0 * math.ceil(n / 32) + 80
        out.append(Kernel("iterate_warps, evaluation", compiled["iterate_warps gaussian"], 128, math.ceil(C / 4), l1=3.0 * C * row, flops=64.0 * C * issued, node=0))
    elif t["evaluated"] == "blocks":
        # targets/block_products.cuh: 8 chains to a warp's group, up to 32 to a block, 128 bytes a clock from shared memory.
        # Whole iterations: no kernel ends between evaluation and sampler. All that issues counts two flops.
        in_block = next((b for b in (8, 16, 32) if math.ceil(C / b) <= d["sms"]), 32)
        blocks, groups = math.ceil(C / in_block), C / 8
        Np, tiles = math.ceil(N / 128) * 128, math.ceil(n / 8)
        wide, stages = math.ceil(n / tiles), math.ceil(Np / 512)
        x = real * Np * n
        l1 = groups * (Np / 128 * (n * 768 + 8 * 512) + Np / 64 * tiles * (wide + 8) * 256)
        work = C * (2.0 * Np * n + 2.0 * Np * tiles * wide + 30.0 * Np) + groups * tiles * stages * 220 * 64
        shared = x + real * (in_block * (n + 512) + Np + stages * in_block * n) + Np // 128 * in_block * 8
        block = dict(compiled["iterate_blocks logistic"], shared=int(shared))
        # A launch of whole iterations brings X once; a pooled one makes one iteration.
        out.append(Kernel("iterate_blocks, evaluation", block, 512, min(blocks, d["sms"]), l1=l1, flops=work,
                          l2=4.0 * C * row + (x * min(blocks, d["sms"]) if warm_up else 0), node=NODE if warm_up else 0))
    half = real * (n * n / 2 + 16 * n)  # the factor's panels
    together = factor_together(n)
    if together:
        square = real * n * math.ceil(n / 32) * 32

        def product(name):
            return Kernel(name, None, 256, 10**6, flops=2.0 * n * n * C, product=True, least=least_product(n), **place(square + 2.0 * C * row))

        def chains(name, kernel, rows, work):
            return Kernel(name, compiled[kernel], 32 * warps, blocks, flops=work * n * C, chain=steps_of_chain(n, together=True) * (rows > 4), **place(float(rows * C * row)))

        out.append(product("L^T G, of the answers (cuBLAS)"))
        if warm_up:
            out.append(chains("advance_with_products, update", "advance_with_products", 11, 20.0))
            end = [chains("advance_with_products, draw", "advance_with_products", 5, 60.0)]
            panels = math.ceil(n / 32)
            end = [Kernel("square_factor", compiled["square_factor"], 256, panels * (panels + 1) // 2, l2=1.5 * square),
                   product("L^T G, of the new factor (cuBLAS)")] + end
        else:
            end = []
            out.append(chains("advance_with_products", "advance_with_products", 14, 80.0))
        end += [product("L H (cuBLAS)"), chains("place_chains", "place_chains", 4, 2.0)]
    passes = 3 if warm_up else 2
    # Warps of one multiprocessor that go through the factor together share its lines in L1: as many as it holds.
    held = occupancy(compiled["advance_chains"], 32 * warps)
    rows = (16 if warm_up else 12) * C * row
    state = place(float(rows))
    state["l2"] = state.get("l2", 0) + passes * half * (C if half > 200e3 else 1.0 * d["sms"]) / (held if half > 200e3 else 1)
    if not together:
        name, of, node, threads = "advance_chains" + (", twice" if warm_up else ""), compiled["advance_chains"], NODE, 32 * warps
        if t["evaluated"] == "blocks":
            name, of, node, threads = "iterate_blocks, sampler", block, 0, 512
        if t["evaluated"] == "a warp":
            name, of, node, threads, blocks = "iterate_warps, sampler", compiled["iterate_warps gaussian"], NODE if warm_up else 0, 128, math.ceil(C / 4)
        turns = math.ceil(in_block / 16) if t["evaluated"] == "blocks" else 1  # chains of a warp of the block, one after another
        out.append(Kernel(name, of, threads, blocks, chain=turns * steps_of_chain(n, passes), l1=passes * half * C,
                          flops=64.0 * C * issued_by_chain(n, passes) if t["evaluated"] in ("blocks", "a warp") else passes * 1.0 * n * n * C + 80.0 * n * C, node=node, **state))
    if warm_up:
        panels = math.ceil(n / 32)
        tiles = panels * (panels + 1) // 2
        chunks = min(math.ceil(132 / tiles), math.ceil(C / 32), 64)
        size = 1024 * tiles * real
        out.append(Kernel("pool_tiles", compiled["pool_tiles"], 256, tiles * chunks, l2=tiles * 64.0 * C * real, l1=tiles * C / 32 * 192.0 * 128,
                          flops=tiles * 2048.0 * C))
        # The natural rule by pool_adapt: a pass over the factor, then L (I + B), two reads of 128 bytes for 32 multiply-adds.
        blocks = max(1, min(132, tiles))
        entries = math.ceil(tiles * 1024 / (blocks * 512))  # of a thread
        chain = math.ceil(C / 512) * 3 * LATENCY["l2"] + 4 * 5 * LATENCY["shuffle"] + entries * ((chunks / 4 + 2) * LATENCY["l2"] + n / 2 * LATENCY["l1"] / IN_FLIGHT)
        out.append(Kernel("pool_adapt", compiled["pool_adapt"], 512, blocks, l2=size * (chunks + 6.0) + C * 24.0 * blocks, l1=n**3 / 6.0 * 8,
                          flops=n**3 / 3.0, chain=chain, meetings=4))
    return out + (end if together else [])


def pooled_step(kind, n, C, compiled, device):
    """Kernels of a pooled step that the sampler's own `adapt` takes on all multiprocessors at once (GridTeam)."""
    d, real = DEVICES[device], 4
    panels = math.ceil(n / 32)
    tiles = panels * (panels + 1) // 2
    chunks = min(math.ceil(132 / tiles), math.ceil(C / 32), 64)
    size = 1024 * tiles * real
    of = {"decomposition": "cma", "pass": "adaptive_metropolis", "window": "nuts"}[kind]
    blocks = max(1, min(d["sms"], tiles))
    out = [Kernel("pool_tiles", compiled["pool_tiles of " + of], 256, tiles * chunks, l2=tiles * 64.0 * C * real, l1=tiles * C / 32 * 192.0 * 128, flops=tiles * 2048.0 * C),
           Kernel("pool_rows, vectors", compiled["pool_rows of " + of], 128, math.ceil(n / 128) * min(132, math.ceil(C / 32), 64), l2=C * n * real * 1.0,
                  chain=0)]
    means = C * 3 * 8.0 * blocks  # each block reads every chain's record for itself
    own = math.ceil(C / 512) * 3 * LATENCY["l2"] + 4 * 5 * LATENCY["shuffle"]
    entries = math.ceil(tiles * 1024 / (blocks * 512))  # of a thread
    if kind == "pass":
        out.append(Kernel("pool_adapt", compiled["pool_adapt of " + of], 512, blocks, l2=size * (chunks + 4.0) + means, flops=8.0 * n * n, chain=own + entries * (chunks / 4 + 2) * LATENCY["l2"], meetings=3))
        return out
    # A Cholesky factor by panels: the tile on the diagonal by one warp, 32 columns after each other, each a dot product, a root
    # and a division; then rows below, each by a thread; then the rest, each entry a dot product of 32.
    tile = 32 * (16 * (LATENCY["l1"] / IN_FLIGHT + LATENCY["add"]) + LATENCY["l1"] + 80)
    solve = 32 * (16 * (LATENCY["l1"] / IN_FLIGHT + LATENCY["add"]) + LATENCY["l1"] + 40)
    rest = 32 * LATENCY["l2"] / IN_FLIGHT
    left = [t * (t + 1) // 2 for t in range(panels)]  # tiles of the rest after each panel
    chain = own + panels * solve + sum(max(tile, math.ceil(t * 1024 / (blocks * 512)) * rest) for t in left) + entries * (chunks / 4 + 2) * LATENCY["l2"]
    flops, l1 = n**3 / 3.0, n**3 / 6.0 * 2 * real / 8
    if kind == "decomposition":  # and L times it
        chain += entries * n / 2 * LATENCY["l2"] / IN_FLIGHT
        flops, l1 = 2 * flops, 3 * l1
    out.append(Kernel("pool_adapt", compiled["pool_adapt of " + of], 512, blocks, l2=size * (chunks + 6.0) + l1, l1=8 * l1, flops=flops, chain=chain, meetings=2 * panels + 5))
    return out


STEPS = {"decomposition": ("a Cholesky factor, and `L` times it", ("adaptive_metropolis_haario", "gaussian_adaptation", "cma"), "each iteration"),
         "pass": ("a pass over the factor", ("adaptive_metropolis",), "each iteration; `rmsprop`, `adam`, `relative` of gad samplers alike; `hmc` and `nuts` but for a window's end"),
         "window": ("a covariance of a window, and its factor", ("adaptive_proposal",), "every 200 iterations; `hmc` and `nuts` with a dense mass at a window's end")}


def pooled_steps(w, compiled, predictions):
    w("## Pooled steps of other samplers\n")
    w("Each sampler's own `adapt`, in one cooperative launch of as many blocks as there are multiprocessors (docs/decisions/0005-cuda-rounds.md), after the")
    w("sums over 4 096 chains. Predicted microseconds, H200; `latency`: the steps that wait for each other, with "
      f"{MEETING * 1e6:.1f} us for each meeting of the grid. A decomposition is")
    w("bound by them: more blocks would not help.\n")
    w("| step | when | dimensions | meetings | registers | throughput | latency | predicted, with the sums |")
    w("|---|---|---:|---:|---:|---:|---:|---:|")
    for kind, (what, samplers, when) in STEPS.items():
        for n in (25, 100, 785):
            ks = pooled_step(kind, n, 4096, compiled, "H200")
            adapt = ks[-1]
            p = adapt.parts("H200")
            w(f"| {what} ({', '.join(samplers)}) | {when} | {n} | {adapt.meetings} | {adapt.compiled['registers']} | {1e6 * max(p['l2'] / REACHED['memory'], p['l1'] / REACHED['pipe'], p['flops'] / REACHED['pipe']):.1f} | "
              f"{1e6 * adapt.latency('H200'):.1f} | {1e6 * sum(k.predicted('H200') for k in ks):.1f} |")
    w("")


def walkers(w, compiled, predictions):
    """Warm-up and sampling of samplers that want values alone, on MNIST and German: half a gradient's products."""
    w("Rounds of 4 096 chains with them, float32 products, values alone (one product in place of two):\n")
    w("| problem | sampler | phase | predicted H100, us | predicted H200, us |")
    w("|---|---|---|---:|---:|")
    for target in ("mnist", "german"):
        t = TARGETS[target]
        for kind, (_, samplers, _) in STEPS.items():
            for sampler in samplers:
                for phase in ("sampling", "warm-up"):
                    row = dict(target=target, chains=4096, matmul="float32", sampler=sampler, phase=phase)
                    for device in DEVICES:
                        ks = [k for k in round_of(target, 4096, compiled, "float32", False, device)
                              if k.name not in ("X^T R (cuBLAS)", "design_answers", "L^T G, of the answers (cuBLAS)")]
                        for k in ks:
                            if k.name.endswith(", sampler"):  # no L^T g either
                                k.chain *= steps_of_chain(t["dim"], 1) / steps_of_chain(t["dim"], 2)
                        seconds = sum(k.predicted(device) / (2 if k.name == "iterate_blocks, evaluation" else 1) for k in ks)
                        if phase == "warm-up":
                            step = sum(k.predicted(device) for k in pooled_step(kind, t["dim"], 4096, compiled, device))
                            seconds += step / (200 if kind == "window" else 1)
                        row[device] = dict(predicted_us=1e6 * seconds)
                    predictions.append(row)
                    w(f"| {target} | {sampler} | {phase} | {row['H100']['predicted_us']:.0f} | {row['H200']['predicted_us']:.0f} |")
    w("")


def on_chip(w, compiled):
    """A leapfrog step of iterate_warps: 245 instructions of a warp in sm_90 code, of which most wait for the one before."""
    chains, issued = 4096, 245
    hmc = compiled["iterate_warps gaussian of hmc"]
    sums = 5 * (LATENCY["shuffle"] + LATENCY["add"]) + 5 * (LATENCY["shuffle"] + 2 * LATENCY["add"])
    waits = sums + 9 * LATENCY["l1"] + 30 * LATENCY["add"]  # nine loads that wait for each other, conversions and arithmetic
    d = DEVICES["H200"]
    warps = occupancy(hmc, 128)
    waves = math.ceil(chains / (d["sms"] * warps))
    seconds = max(waves * waits, chains / d["sms"] / 4 * issued / 0.75) / CLOCK
    w("## Trajectories on chip\n")
    w("`hmc` on a diagonal Gaussian of up to 32 dimensions, diagonal mass, 4 096 chains, a warp each that waits for no other (docs/decisions/0014-small-problems.md):")
    w(f"{hmc['registers']} registers, {warps} warps to a multiprocessor, {waves} waves; a leapfrog step is {waits} clocks of waiting or {issued} instructions of a warp at three quarters of")
    w(f"the slots of a scheduler, whichever is longer: **{1e6 * seconds:.1f} us** for all chains (bar: 2).\n")


def trajectories(w, compiled, predictions):
    w("## Trajectories with a mass that chains share\n")
    w("`hmc` and `nuts`, dense pooled mass, sampling, 4 096 chains: a round is one gradient of each chain that asks, `F^T g` of the answers, `F r` for the next")
    w("points. Products are made of all chains; the evaluation of those that ask, in panels (targets/asking.cuh). Predicted microseconds of a round.\n")
    w("| problem | products of X | device | products with F, us | all ask | half ask | a tenth asks |")
    w("|---|---|---|---:|---:|---:|---:|")
    for target in ("mnist", "caravan"):
        for matmul in ("float32", "bf16x3"):
            n = TARGETS[target]["dim"]
            row = dict(target=target, chains=4096, matmul=matmul, sampler="nuts", phase="sampling")
            for device in DEVICES:
                d = DEVICES[device]
                row_bytes = math.ceil(n / 32) * 128
                place = (lambda b: dict(l2=b)) if 14.0 * 4096 * row_bytes < 0.7 * d["l2_bytes"] else (lambda b: dict(hbm=b))
                square = 4.0 * n * math.ceil(n / 32) * 32
                together = factor_together(n)
                if together:
                    factor = 2 * Kernel("F", None, 256, 10**6, flops=2.0 * n * n * 4096, product=True, least=least_product(n), **place(square + 2.0 * 4096 * row_bytes)).predicted(device)
                    own = Kernel("advance_with_products", compiled["advance_with_products of nuts"], 128, 1024, chain=steps_of_chain(n, together=True), **place(16.0 * 4096 * row_bytes)).predicted(device)
                    own += Kernel("place_chains", compiled["place_chains of nuts"], 128, 1024, **place(4.0 * 4096 * row_bytes)).predicted(device)
                else:
                    factor = 0.0
                    own = Kernel("advance_chains", compiled["advance_chains of nuts"], 128, 1024, chain=steps_of_chain(n), l1=2.0 * 4 * (n * n / 2 + 16 * n) * 4096, **place(16.0 * 4096 * row_bytes)).predicted(device)
                whole = [asking_round(target, 4096, share, matmul, device)[0] + 1e6 * (factor + own) for share in (1, 0.5, 0.1)]
                row[device] = dict(predicted_us=whole[0])
                w(f"| {target} | {matmul} | {device} | {1e6 * factor:.0f}{'' if together else ' (a warp for each chain)'} | " + " | ".join(f"{v:.0f}" for v in whole) + " |")
            predictions.append(row)
    w("")


def measured_ess():
    """Smallest ESS over coordinates of an iteration of gad_mala_fast, one gradient each, after its own warm-up."""
    rows = json.load(open(os.path.join(root, "docs", "results", "titsias2019.json")))
    out = {}
    for name, t in TARGETS.items():
        for r in rows:
            if r["target"].startswith(t["ess"]) and r["sampler"] == "gad_mala_fast":
                out[name] = r["ess_min"] / 20000
    return out


def si(x):
    for unit, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if x >= scale:
            return f"{x / scale:.3g} {unit}"
    return f"{x:.3g} " if x else "-"


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--ptxas", help="compilers' report in place of nvcc")
    a = p.parse_args()
    compiled = kernels_of(ptxas_report(a.ptxas))
    ess = measured_ess()
    predictions, page = [], []
    w = page.append
    w("# What each kernel must cost\n")
    w("Written by `bench/roofline.py` from the compiled kernels (float, sm_90) and the shapes of four problems; not by hand, and **nothing here was")
    w("measured on a GPU**; what was stands in [results/2026-11-27-h100.md](results/2026-11-27-h100.md). `floor`: the largest of bytes over bandwidth and flops over rate, at the data sheet's figures. `predicted`: the same at")
    w(f"{REACHED['memory']:.0%} of a memory's bandwidth, {REACHED['product']:.0%} of the rate of products and {REACHED['pipe']:.0%} of arithmetic and of the path to L1 and shared memory,")
    w(f"and {NODE * 1e6:.1f} us between nodes of a graph; or by latency, where that is longer: steps that wait for each other, as often as warps must take turns,")
    w(f"and {IN_FLIGHT} loads of 128 bytes on the way for each warp, at {LATENCY['hbm']} clocks to device memory, {LATENCY['l2']} to L2, {LATENCY['l1']} to L1, {LATENCY['shuffle']} a shuffle. Not counted: latency inside cuBLAS's")
    w("products and inside a tile's sums, of which each warp has 32 or 56 independent ones. All assumptions, which `bench/on_gpu.sh` puts beside what it measures. Sampler: `gad_mala_fast`,")
    w("pooled, float. ESS: the smallest of a coordinate for an iteration (one gradient), measured on the CPU (docs/results/titsias2019.json), where a")
    w("chain learnt its factor alone for 20 000 iterations; pooled chains learn theirs from thousands of times the moves.\n")
    w("Devices: " + "; ".join(f"{k}: {d['sms']} multiprocessors, {d['hbm'] / 1e12:.2f} TB/s, {d['float32'] / 1e12:.0f} Tflop/s in float32, "
                              f"{d['bf16'] / 1e12:.0f} in bf16" for k, d in DEVICES.items())
      + "; both: L2 of 50 MB, taken at 5.5 TB/s, and 128 bytes a clock from a multiprocessor's L1 and shared memory.\n")
    w("## Rounds\n")
    w("`products`: how the two products are made (`--matmul`; docs/decisions/0013-products.md).\n")
    w("| problem | chains | products | phase | floor H100, us | predicted | floor H200, us | predicted | bound by (H200) | gradients/s, H200 | min ESS/s, H200 |")
    w("|---|---:|---|---|---:|---:|---:|---:|---|---:|---:|")
    for target in TARGETS:
        for chains in CHAINS:
            for matmul in (("float32", "bf16x3") if TARGETS[target]["evaluated"] == "products" else ("float32",)):
                for warm_up in (False, True):
                    cells, row = [], dict(target=target, chains=chains, matmul=matmul, phase="warm-up" if warm_up else "sampling")
                    for device in DEVICES:
                        ks = round_of(target, chains, compiled, matmul, warm_up, device)
                        row[device] = dict(floor_us=1e6 * sum(k.floor(device) for k in ks), predicted_us=1e6 * sum(k.predicted(device) for k in ks))
                        worst = max(ks, key=lambda k: k.predicted(device))
                        cells += [f"{row[device]['floor_us']:.1f}", f"{row[device]['predicted_us']:.1f}"]
                    seconds = row["H200"]["predicted_us"] * 1e-6
                    row["min_ess_per_gradient"] = ess.get(target)
                    for device in DEVICES:
                        if not warm_up and target in ess:
                            row[device]["min_ess_per_second"] = ess[target] * chains / (row[device]["predicted_us"] * 1e-6)
                    predictions.append(row)
                    w(f"| {target} | {chains} | {matmul} | {row['phase']} | {cells[0]} | {cells[1]} | {cells[2]} | {cells[3]} | {worst.name}, {worst.bound('H200')} | "
                      f"{si(chains / seconds)}| {si(row['H200'].get('min_ess_per_second', 0))}|")
    w("\n## Kernels at 4 096 chains\n")
    w("Occupancy: warps that a multiprocessor holds, of 64. Bytes: of device memory; of L2; to L1 and shared memory.\n")
    for target in TARGETS:
        modes = ("float32", "bf16x3") if TARGETS[target]["evaluated"] == "products" else ("float32",)
        for matmul in modes:
            t = TARGETS[target]
            shape = f"{t['rows']} observations, " if t["rows"] else ""
            w(f"### {target}: {shape}{t['dim']} dimensions, {matmul}\n")
            w("| kernel | registers | shared, bytes | occupancy | device bytes | L2 bytes | L1 bytes | flops | floor H100, us | floor H200, us | bound by (H200) | latency H200, us | predicted H200, us |")
            w("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|---:|---:|")
            sampling = round_of(target, 4096, compiled, matmul, False, "H200")
            names = {k.name for k in sampling}
            for k in sampling + [k for k in round_of(target, 4096, compiled, matmul, True, "H200") if k.name not in names]:
                c = k.compiled
                w(f"| {k.name} | {c['registers'] if c else '-'} | {c['shared'] if c else '-'} | {k.warps or '-'} | {si(k.hbm)}| {si(k.l2)}| {si(k.l1)}| {si(k.flops)}| "
                  f"{1e6 * k.floor('H100'):.1f} | {1e6 * k.floor('H200'):.1f} | {k.bound('H200')} | {1e6 * k.latency('H200'):.1f} | {1e6 * k.predicted('H200'):.1f} |")
            w("")
    chains_that_wait(w)
    on_chip(w, compiled)
    trajectories(w, compiled, predictions)
    pooled_steps(w, compiled, predictions)
    walkers(w, compiled, predictions)
    w("## What the arithmetic says\n")

    def at(target, chains, matmul, phase, device="H200"):
        return next(r for r in predictions if "sampler" not in r and (r["target"], r["chains"], r["matmul"], r["phase"]) == (target, chains, matmul, phase))[device]["predicted_us"]

    w(f"- MNIST, 4 096 chains, H200, a sampling round: {at('mnist', 4096, 'float32', 'sampling') / 1e3:.2f} ms in float32, "
      f"{at('mnist', 4096, 'bf16x3', 'sampling') / 1e3:.2f} ms in bf16x3 (bar: 1.2); a pooled warm-up round {at('mnist', 4096, 'bf16x3', 'warm-up') / 1e3:.2f} ms (bar: 2).")
    german = {k.name: k for k in round_of("german", 4096, compiled, "float32", False, "H200")}
    own = german["iterate_blocks, sampler"]
    whole, of_own = at("german", 4096, "float32", "sampling"), 1e6 * own.predicted("H200")
    all_slots = sum(k.parts("H200")["flops"] for k in german.values())
    w(f"- German, 4 096 chains, H200, a sampling round: **{whole:.1f} us** (bar: 25, {'held' if whole <= 25 else 'not held'}): {of_own:.1f} us are the sampler's own part, by the instructions that it issues, and")
    w(f"  {1e6 * own.latency('H200'):.1f} us by latency alone, two chains after another to a warp. Every slot of every scheduler filled, the round would take {1e6 * all_slots:.0f} us. `L^T g` and `L h` as products of a")
    w("  block's chains would be next. Instructions are counted there alone: elsewhere a sampler's own part waits for memory.")
    factor = [k for k in round_of("mnist", 4096, compiled, "bf16x3", False, "H200") if k.name.startswith("L")]
    w(f"- MNIST: `L h` and `L^T g` of all chains, products of a full square in float, are {1e6 * sum(k.predicted('H200') for k in factor):.0f} us of such a round, "
      f"half of it for the zeros above the diagonal;")
    w("  a warp for each chain would read the factor twice for each. From 128 dimensions on products are made of all chains (host/chains/cuda_products.cuh).")
    w("- German: eight chains share each number of X that leaves shared memory, and no kernel ends inside a sampling round (docs/decisions/0014-small-problems.md).")
    w("  A warp for each chain, as before, read 906 MB from L1 where 221 are read now: 65 us.")
    open(os.path.join(here, "roofline.md"), "w").write("\n".join(page) + "\n")
    with open(os.path.join(here, "roofline.json"), "w") as f:
        shorter = json.loads(json.dumps(predictions), parse_float=lambda text: float(f"{float(text):.4g}"))
        f.write('{"what": "predictions of bench/roofline.py; nothing measured on a GPU", "rows": [\n')
        f.write(",\n".join(json.dumps(row) for row in shorter) + "\n]}\n")
    print(f"roofline: {len(compiled)} kernels, {len(predictions)} rounds; bench/roofline.md, bench/roofline.json")


main()
