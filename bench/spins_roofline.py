"""Counts beside the spin kernels: writes bench/spins_roofline.md. usage: bench/spins_roofline.py
Instructions are counted by compiling bench/spins_probes.cu for sm_90: a kernel's code has 16 bytes for each, and what one
piece takes is its kernel's less that of the kernel that does nothing. A walk by rows has a warp to a scheduler and so nobody
who hides its latency: its loop of flips is played instruction by instruction, with the waits that the compiler wrote into
them (sm_90 keeps them in the upper bits of each). nvcc and readelf are needed, a GPU is not.
Nothing here was measured on a GPU."""
import os, re, struct, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(here)
# ---- devices: NVIDIA's data sheets (SXM); the clock is the one that bench/roofline.py takes.
SMS, SCHEDULERS, CLOCK, LANES = 132, 4, 1.755e9, 32
HBM = {"H100": 3.35e12, "H200": 4.8e12}
ISSUED = 0.6  # of the issue slots, where four warps or more share a scheduler
ACCEPTED = 0.773  # of the walks of im_expert on 60x60, 1800 up, beta = 1 / 2.27: counted on the CPU
WALK = 180  # flips of a walk
LATENCY = dict(l1=35, l2=260)  # cycles of a load
# Cycles that a warp's instruction keeps its pipe, by opcode: results a cycle and multiprocessor as the CUDA C++ programming
# guide has them for 9.0 (64 integer, 64 double, 16 of bit counts and conversions), a scheduler has a quarter. Shared memory
# moves 128 bytes a cycle for all four schedulers, all of which are taken to want it at once: 256 bytes are 8 cycles.
# Cycles until a result that the compiler cannot foresee is there: shared memory as others measured on Hopper, the rest rough.
SHARED, COUNT, CONVERT, DOUBLE = 30, 16, 20, 16


def compiled():
    """Instructions of each probe, registers of the kernels, and instructions and cycles of a flip by rows, for sm_90."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "probes.cubin")
        command = ["nvcc", "-std=c++20", "--expt-relaxed-constexpr", "-I.", "-Iinclude", "-arch=sm_90", "-Xptxas=-v", "-cubin"]
        report = subprocess.run([*command, "bench/spins_probes.cu", "-o", out], cwd=root, check=True, capture_output=True, text=True)
        with open(out, "rb") as f:
            probes = f.read()
        sections = subprocess.run(["readelf", "-SW", out], check=True, capture_output=True, text=True).stdout
        registers = {}
        for sampler, kind in (("intracluster", "Intracluster"), ("metropolis", "Metropolis")):
            kernels = subprocess.run([*command, "-DKILOCHAIN_HAS_CUDA=1", f"-DKILOCHAIN_NAME={sampler}", f"-DKILOCHAIN_TYPE={kind}",
                                      "host/registry/instantiate/spin_sampler.cu", "-o", out], cwd=root, check=True, capture_output=True, text=True)
            for name, used in re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", kernels.stderr, re.S):
                registers[sampler, name] = int(used)
            if re.search(r"[1-9]\d* bytes (stack|spill)", kernels.stderr + report.stderr):
                raise SystemExit("spins_roofline: a kernel spills")
    size, loops = {}, []
    for name, at, bytes_ in re.findall(r"\] \.text\.\w*?(probe_[a-z_]+?)[EI]\w*\s+PROGBITS\s+\w+ (\w+) (\w+)", sections):
        size[name] = int(bytes_, 16) // 16
        if name == "probe_rows":
            loops.append(played([struct.unpack_from("<QQ", probes, int(at, 16) + i) for i in range(0, int(bytes_, 16), 16)]))
    return size, registers, [sum(x) / len(loops) for x in zip(*loops)]


def pipe(op):
    kind = op & 0x1FF
    if op in (0x984, 0x388):  # LDS, STS
        return "shared", 8, SHARED
    if kind in (0x109, 0x112):  # POPC, I2F
        return "special", 8, COUNT if kind == 0x109 else CONVERT
    if kind in (0x28, 0x29, 0x2B):  # DMUL, DADD, DFMA
        return "double", 2, DOUBLE
    if kind in (0x24, 0x25, 0x27):  # IMAD, and those with results of 64 bits
        return "multiply", 2 if kind == 0x24 else 4, 12
    return "integer", 2, 12


def played(code, rounds=8):
    """A kernel's longest loop: instructions and cycles of one turn of a warp that is alone on its scheduler, and its registers'
    waits. Every second turn takes the branches within (a Philox block serves two flips)."""
    jumps = {}
    for i, (low, high) in enumerate(code):
        if low & 0xFFF == 0x947:  # BRA: a signed distance in words of 4 bytes
            by = (((low | high << 64) >> 34 & (1 << 48) - 1) << 8) | (low >> 16 & 255)
            jumps[i] = i + 1 + (by - (1 << 56) if by >> 55 else by) // 4
    last = min(jumps, key=lambda i: jumps[i] - i)
    now, ready, free, turns, count = 0, [0] * 6, {}, [], 0
    for turn in range(rounds):
        i = jumps[last]
        while i <= last:
            low, high = code[i]
            control = high >> 41
            for barrier in range(6):
                if control >> 11 + barrier & 1:
                    now = max(now, ready[barrier])
            name, cycles, latency = pipe(low & 0xFFF)
            now = max(now, free.get(name, 0))
            free[name] = now + cycles
            if (written := control >> 5 & 7) < 6:
                ready[written] = max(ready[written], now + latency)
            if (read := control >> 8 & 7) < 6:
                ready[read] = max(ready[read], now + 10)
            now += max(1, control & 15)
            count += 1
            i = jumps[i] if i in jumps and jumps[i] > i and turn % 2 else i + 1
        turns.append(now)
    return count / rounds, (turns[-1] - turns[1]) / (rounds - 2)


def registers_of(registers, sampler, *words):
    return max(used for (s, name), used in registers.items() if s == sampler and all(w in name for w in words))


def main():
    size, registers, (flip, flip_cycles) = compiled()
    piece = {name: size[name] - size["probe_lists_nothing" if "lists" in name else "probe_nothing"]
             for name in size}
    lines = []
    say = lines.append

    # ---- walks by rows: a thread for each replica
    words = 102 + 60 + 4  # of a replica of 60x60 (kernels/discrete/row_board.hpp), 170 at most
    copies = 2 * words / WALK  # kept, and in nearly every walk one of 32 taken back: a load and a store each, of 256 bytes
    logs = (WALK / 32 + 1) / WALK
    log = piece["probe_log"] / 2  # half of its code are divisions' rare ends
    slots = (flip + 4 * copies + logs * log) / LANES
    turn = flip_cycles + 20 * copies + logs * log * 5
    peak = SMS * SCHEDULERS * CLOCK / slots
    shared = 170 * 32 * 8
    row_registers = registers_of(registers, "intracluster", "advance_rows")
    resident = min((227 << 10) // (shared + 1024), 65536 // (row_registers * 32), 32)
    alone = 16384 * CLOCK / turn

    # ---- walks by lists: a warp for each replica, one lane at work in a flip
    lists = piece["probe_lists_choose"] + 2 * piece["probe_lists_total"] + piece["probe_lists_flip"] + piece["probe_philox"] / 2
    list_registers = registers_of(registers, "intracluster", "advance_replicas", "MemberListsIt")
    warps = 65536 // (list_registers * 128) * 4
    chain_of_loads = 40  # one after another: the member, five spins' classes, places and last members
    cycles = lists * 2 + chain_of_loads * LATENCY["l2"]
    by_lists = SMS * warps * CLOCK / cycles

    # ---- words: a warp for each replica, a lane for each word
    philox = piece["probe_philox"]
    words_used, batches, late = 29, 2, 1.3  # of 60x60; batches of four planes; blocks for those of 64 spins still open, one warp's most
    sweep = 2 * (batches * (2 * philox + 4 * 22) + late * (philox + 30) + 150) + 250  # both colours, and what is counted
    words_slots = sweep / 3600
    words_peak = SMS * SCHEDULERS * CLOCK / words_slots
    words_registers = registers_of(registers, "metropolis", "PackedLattice", "advance_replicas")

    G = 1e9
    rows = [
        ("intracluster, rows", "thread", slots, row_registers, f"{resident} warps", round(8 * (2 - ACCEPTED) * words / WALK), peak, alone),
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
    say("\n## 16 384 replicas of 60x60\n")
    say(f"Rows: {16384 / SMS:.0f} replicas to a multiprocessor are {per_sm:.2f} warps to a scheduler, which has nobody to turn to while one waits:")
    say(f"latency counts, not slots. The loop of flips has {flip:.0f} instructions for 32 replicas, {flip / LANES:.1f} a flip, and takes")
    say(f"{flip_cycles:.0f} cycles, played with the compiler's own waits ({flip / flip_cycles:.0%} of the slots); with the walk's copies and logarithms {turn:.0f}: **{alone / G:.3g} flips/ns**. The bar of 20 "
        f"{'is met' if alone >= 20 * G else 'is not met'} by this")
    say(f"prediction, and would be until {16384 * CLOCK / 20e9:.0f} cycles. Assumed: {SHARED} cycles for a load from shared memory (8 more of all four schedulers at once),")
    say(f"{COUNT} for a count of bits, {CONVERT} for a conversion, {DOUBLE} for doubles, the clock of {CLOCK / G:.3g} GHz.")
    say(f"State: {shared >> 10} KiB of shared memory for 32 replicas; a walk's copies stay in the caches.")
    say(f"Lists: {by_lists / G:.2g}, bound by loads that wait for one another ({chain_of_loads} of {LATENCY['l2']} cycles a flip).\n")
    say("## Free Metropolis beside the yardstick\n")
    say(f"Philox blocks: {2 * (2 * batches + late) * words_used / 3600:.3f} a flip ({batches} batches of two for 64 spins, and what the few take that are open then), {philox} instructions each.")
    say(f"Predicted {words_peak * ISSUED / G:.3g} flips/ns on one H100 or H200 with thousands of replicas; NVIDIA's checkerboard code has 766 on two V100,")
    say("one lattice of 2^30 spins or more, bound by memory. Many small replicas stay in the caches: bytes are 1/4 a flip, twice 450 bytes a colour.\n")
    say("A tenth of these would be a wrong count; half of them, a wrong guess of how many slots are issued.")
    with open(os.path.join(here, "spins_roofline.md"), "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"rows {slots:.1f} slots a flip, {turn:.0f} cycles, {peak / G:.3g} at most, {alone / G:.3g} at 16384; lists {by_lists / G:.3g}; words {words_peak * ISSUED / G:.4g}")


if __name__ == "__main__":
    main()
