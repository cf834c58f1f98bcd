#!/usr/bin/env python3
"""Measurement beside prediction, line by line: gpu_page.py FOLDER writes FOLDER/on_gpu.md of the on_gpu*.json in it.

Predictions are those of bench/roofline.py, counted before a device was there; the files say which were used. Standard
library only."""
import glob, json, os, sys


def cell(x, form="{:.1f}"):
    return "-" if x is None else form.format(x)


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(r) + " |" for r in rows]) + "\n\n"


def page(files):
    every = [json.load(open(f)) for f in files]
    out = "# Prediction and measurement on a device\n\n"
    for d in every:
        out += f"- {d['date']}, {d['device']}, commit {d['commit']}, {d['host_cores']} host cores\n"
    failed = [c for d in every for c in d["checks"] if not c["ok"]]
    out += "\n" + (f"**{len(failed)} checks failed**: " + "; ".join(c["name"] for c in failed) if failed else "Every check that was made passed.") + "\n"
    not_done = [n for d in every for n in d["not_done"]]
    out += ("Not done: " + "; ".join(dict.fromkeys(not_done)) + ".\n" if not_done else "") + "\n"
    suites = [s for d in every for s in d.get("suites", [])]
    if suites:
        out += "## Tests, a process each\n\n" + table(["suite", "graphs", "passed", "status", "s"], [
            [s["suite"], "yes" if s["graphs"] else "no", str(s["passed"]), str(s["status"]), cell(s["seconds"])] for s in suites])
    rows = []
    for d in every:
        for r in d["rows"]:
            for phase in ("warmup", "sampling"):
                us, said = r[f"{phase}_us"], r[f"predicted_{phase}_us"]
                rows.append([r["target"], str(r["chains"]), r["matmul"], r["sampler"] + (", " + r["how"] if r["how"] else ""), r["draws"], phase,
                             cell(said), cell(us), cell(us / said if us and said else None, "{:.2f}")])
    if rows:
        out += "## Iterations, microseconds\n\n" + table(["target", "chains", "products", "sampler", "draws", "phase", "predicted", "measured", "measured / predicted"], rows)
    for d in every:
        if "ceilings" in d:
            c = d["ceilings"]
            rows = [[k, f"{v:.4g}"] for k, v in c.items() if isinstance(v, (int, float))]
            rows += [[f"{k}, {name}", f"{v:.4g}"] for k, of in c.items() if isinstance(of, dict) for name, v in of.items() if isinstance(v, (int, float))]
            out += "## Ceilings\n\n" + table(["what", "reached"], rows)
        for k in d.get("kernels", []):
            out += f"## Kernels of {k['target']}{' ' + k['how'] if k['how'] else ''}, {k['chains']} chains\n\n" + table(
                ["kernel", "blocks x threads", "launches", "us", "registers", "% of warps", "% of memory", "% of arithmetic"],
                [[f"`{r['kernel'][:80]}`", f"{r.get('blocks', '-')} x {r.get('threads', '-')}", str(r["calls"]), cell(r["us"]), cell(r["registers"], "{:.0f}"), cell(r["warps_percent"], "{:.0f}"),
                  cell(r["memory_percent"], "{:.0f}"), cell(r["arithmetic_percent"], "{:.0f}")] for r in k["rows"][:15]])
    peers = [(p["problem"], p["chains"], r) for d in every for p in d.get("peers", []) for r in p["rows"]]
    if peers:
        out += "## Peers\n\n" + table(["problem", "chains", "sampler", "warm-up + draws", "s", "min ESS/s", "R-hat"], [
            [problem, str(chains), r["peer"], f"{r.get('warmup', '-')} + {r.get('samples', '-')}", cell(r.get("seconds_warm"), "{:.3f}"),
             cell(r.get("min_ess_per_second"), "{:.0f}"), cell(r.get("rhat_max"), "{:.4f}")] if "error" not in r else
            [problem, str(chains), r["peer"], "failed: " + r["error"][:80].replace("|", " "), "-", "-", "-"] for problem, chains, r in peers])
    return out


if __name__ == "__main__":
    files = sorted(glob.glob(os.path.join(sys.argv[1], "on_gpu*.json"))) if len(sys.argv) == 2 else []
    if not files:
        sys.exit(__doc__)
    with open(os.path.join(sys.argv[1], "on_gpu.md"), "w") as f:
        f.write(page(files))
    print(os.path.join(sys.argv[1], "on_gpu.md"))
