"""Counts beside the spin kernels: writes bench/spins_roofline.md. usage: bench/spins_roofline.py
Instructions are counted by compiling bench/spins_probes.cu for sm_90: a kernel's code has 16 bytes for each, and what one
piece takes is its kernel's less that of the kernel that does nothing. nvcc and readelf are needed, a GPU is not.
Nothing here was measured on a GPU."""
import os, re, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
# ---- devices: NVIDIA's data sheets (SXM); the clock is the one that bench/roofline.py takes.
SMS, SCHEDULERS, CLOCK, LANES = 132, 4, 1.755e9, 32
HBM = {"H100": 3.35e12, "H200": 4.8e12}
ISSUED = 0.6  # of the issue slots, where four warps or more share a scheduler; one warp alone: its own instructions in parallel
ALONE = 0.45
# ---- what the walks of im_expert do on 60x60, 1800 up, beta = 1 / 2.27: counted on the CPU over 5000 steps
SUCCESS = 0.0710  # of one trial: mean total of a side / (4096 sites x the largest weight)
ACCEPTED = 0.773
TRIALS, WALK = 8, 180  # trials of an attempt; flips of a walk
LATENCY = dict(l1=35, l2=260)  # cycles of a load


def compiled():
    """Instructions of each probe, and its registers, for sm_90."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "probes.cubin")
        command = ["nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-I.", "-Iinclude", "-arch=sm_90", "-Xptxas=-v", "-cubin"]
        report = subprocess.run([*command, "bench/spins_probes.cu", "-o", out], cwd=root, check=True, capture_output=True, text=True)
        sections = subprocess.run(["readelf", "-SW", out], check=True, capture_output=True, text=True).stdout
        registers = {}
        for sampler, kind in (("intracluster", "Intracluster"), ("metropolis", "Metropolis")):
            kernels = subprocess.run([*command, "-DKILOCHAIN_HAS_CUDA=1", f"-DKILOCHAIN_NAME={sampler}", f"-DKILOCHAIN_TYPE={kind}",
                                      "host/registry/instantiate/spin_sampler.cu", "-o", out], cwd=root, check=True, capture_output=True, text=True)
            for name, used in re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", kernels.stderr, re.S):
                registers[sampler, name] = int(used)
            if re.search(r"[1-9]\d* bytes (stack|spill)", kernels.stderr + report.stderr):
                raise SystemExit("spins_roofline: a kernel spills")
    size = {}
    for name, bytes_ in re.findall(r"\] \.text\.\w*?(probe_[a-z_]+?)E\w*\s+PROGBITS\s+\w+ \w+ (\w+)", sections):
        size[name] = int(bytes_, 16) // 16
    return size, registers


def registers_of(registers, sampler, *words):
    return max(used for (s, name), used in registers.items() if s == sampler and all(w in name for w in words))


def main():
    size, registers = compiled()
    piece = {name: size[name] - size["probe_trial_nothing" if "trial" in name else "probe_lists_nothing" if "lists" in name else "probe_nothing"]
             for name in size}
    lines = []
    say = lines.append

    # ---- walks by trial: a thread for each replica
    succeeds = 1 - (1 - SUCCESS) ** TRIALS
    flips = LANES * succeeds
    log = piece["probe_log"] / 2 * (1 - (30 / 31) ** flips)  # half of its code are divisions' rare ends
    at_flip = piece["probe_trial_tilt"] + 2 * piece["probe_trial_total"] + piece["probe_trial_flip"] + log + 15
    attempt = piece["probe_trial_attempt"] + 10
    deviation = (WALK * (1 - succeeds)) ** 0.5 / succeeds
    iterations = WALK / succeeds + 2.07 * deviation  # of the slowest of 32 lanes
    slots = iterations * (attempt + at_flip) / (WALK * LANES)
    peak = SMS * SCHEDULERS * CLOCK / slots
    shared = 80 * 64 * 8
    trial_registers = registers_of(registers, "intracluster", "advance_trials")
    resident = min((227 << 10) // (shared + 1024), 65536 // (trial_registers * 64), 32)

    # ---- walks by lists: a warp for each replica, one lane at work in a flip
    lists = piece["probe_lists_choose"] + 2 * piece["probe_lists_total"] + piece["probe_lists_flip"] + piece["probe_philox"] / 2
    list_registers = registers_of(registers, "intracluster", "advance_replicas", "ClassBoardIt")
    warps = 65536 // (list_registers * 128) * 4
    chain_of_loads = 40  # one after another: the member, five spins' classes, places and last members
    cycles = lists * 2 + chain_of_loads * LATENCY["l2"]
    by_lists = SMS * warps * CLOCK / cycles

    # ---- words: a warp for each replica, a lane for each word
    philox = piece["probe_philox"]
    words_used, words_lanes, batches = 29, 32, 3.1  # of 60x60; batches of four planes until all of 1700 spins are decided
    sweep = 2 * (batches * (2 * philox + 4 * 22) + 150) + 250  # both colours, and what is counted
    words_slots = sweep / 3600
    words_peak = SMS * SCHEDULERS * CLOCK / words_slots
    words_registers = registers_of(registers, "metropolis", "PackedLattice", "advance_replicas")

    G = 1e9
    rows = [
        ("intracluster, trials", "thread", slots, trial_registers, f"{resident * 2} warps", 0, peak, peak * ISSUED),
        ("intracluster, lists", "warp", lists, list_registers, f"{warps} warps", 1100, SMS * SCHEDULERS * CLOCK / lists, by_lists),
        ("metropolis, words", "warp", words_slots, words_registers, f"{65536 // (words_registers * 128) * 4} warps", 0.25, words_peak, words_peak * ISSUED),
    ]
    say("# Spins on a GPU, by counts\n")
    say("Predictions: nothing here was measured on a GPU. `bench/spins_roofline.py` writes this page; it compiles")
    say("`bench/spins_probes.cu` for sm_90 and counts instructions. 60x60 spins; a flip of a walk is one asked for, as on the CPU;")
    say("a flip of Metropolis is a spin asked. H100 and H200 have the same multiprocessors, and none of these is bound by memory.\n")
    say("| kernel | a replica has a | warp instructions a flip | registers | resident on a multiprocessor | bytes a flip | every slot issued, flips/ns | predicted, flips/ns |")
    say("|---|---|---|---|---|---|---|---|")
    for name, team, per_flip, used, stay, bytes_, best, predicted in rows:
        say(f"| {name} | {team} | {per_flip:.3g} | {used} | {stay} | {bytes_} | {best / G:.3g} | {predicted / G:.3g} |")
    per_sm = 16384 / SMS / LANES / SCHEDULERS
    alone = peak * ALONE * min(1, per_sm)
    say("\n## 16 384 replicas of 60x60\n")
    say(f"Trials: {16384 / SMS:.0f} replicas to a multiprocessor are {per_sm:.2f} warps to a scheduler, which has nobody to turn to while it")
    say(f"waits: {ALONE:.0%} of its slots, **{alone / G:.2g} flips/ns**; with 65 536 replicas {peak * ISSUED / G:.2g}. The bar of 20 is "
        f"{'within' if alone >= 20 * G else 'not within'} reach by these counts:")
    say(f"all slots issued would be {peak / G:.3g}. Lists: {by_lists / G:.2g}, bound by loads that wait for one another ({chain_of_loads} of {LATENCY['l2']} cycles a flip).\n")
    say("What a flip by trial takes, in warp instructions of all 32 replicas together:\n")
    say("| piece | instructions | times in a flip |")
    say("|---|---|---|")
    each = iterations / (WALK * LANES)
    for name, count in (("attempt: two Philox blocks, eight trials", attempt), ("flip: the class of five spins", piece["probe_trial_flip"]),
                        ("totals of both sides", 2 * piece["probe_trial_total"]), ("ratio of weights", piece["probe_trial_tilt"]), ("logarithm", log)):
        say(f"| {name} | {count:.0f} | {each:.4f} |")
    say(f"\nOf {1 / SUCCESS:.1f} trials one is taken (counted on the CPU, {ACCEPTED:.0%} of walks accepted); {flips:.1f} of 32 replicas flip after an attempt;")
    say(f"the slowest of 32 takes {iterations / (WALK / succeeds) - 1:.0%} longer. State: {shared >> 10} KiB of shared memory for 64 replicas, no traffic to memory within a walk")
    say("but its copy (500 bytes a walk, 3 a flip, in the caches).\n")
    say("## Free Metropolis beside the yardstick\n")
    say(f"Philox blocks: {2 * 2 * batches * words_used / 3600:.3f} a flip ({batches:.1f} batches of two for 64 spins, until the last of a warp's 1 700 is decided), {philox} instructions each.")
    say(f"Predicted {words_peak * ISSUED / G:.3g} flips/ns on one H100 or H200 with thousands of replicas; NVIDIA's checkerboard code has 766 on two V100,")
    say("one lattice of 2^30 spins or more, bound by memory. Many small replicas stay in the caches: bytes are 1/4 a flip, twice 450 bytes a colour.\n")
    say("A tenth of these would be a wrong count; half of them, a wrong guess of how many slots are issued.")
    with open(os.path.join(here, "spins_roofline.md"), "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"trials {slots:.1f} slots a flip, {peak / G:.3g} at most, {alone / G:.3g} at 16384; lists {by_lists / G:.3g}; words {words_peak * ISSUED / G:.4g}")


if __name__ == "__main__":
    main()
