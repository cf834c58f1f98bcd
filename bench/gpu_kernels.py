"""What ncu tells of kernels, as rows: on_gpu.py. Standard library only."""
import csv

METRICS = {"gpu__time_duration.sum": "us", "launch__registers_per_thread": "registers",  # grid and block besides
           "sm__warps_active.avg.pct_of_peak_sustained_active": "warps_percent",
           "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory_percent",
           "sm__throughput.avg.pct_of_peak_sustained_elapsed": "arithmetic_percent"}


def kernel_rows(csv_text):
    """ncu's table as rows {kernel, blocks, threads, calls, and the median of each metric}: one for each shape of a launch."""
    lines = csv_text.splitlines()
    begins = next((k for k, line in enumerate(lines) if "Kernel Name" in line), None)
    if begins is None:
        return []
    table = list(csv.DictReader(lines[begins:]))
    scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1.0, "usecond": 1.0, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6}
    unit = scale.get(table[0].get("gpu__time_duration.sum", ""), 1.0) if table else 1.0
    found = {}
    for line in table[1:]:  # the first has the units
        found.setdefault((line["Kernel Name"][:160], line.get("launch__grid_size"), line.get("launch__block_size")), []).append(line)
    rows = []
    for (kernel, blocks, threads), calls in found.items():  # cuBLAS makes products of several shapes by one kernel
        row = dict(kernel=kernel, blocks=blocks, threads=threads, calls=len(calls))
        for metric, name in METRICS.items():
            values = sorted(float(c[metric].replace(",", "")) for c in calls if c.get(metric))
            row[name] = values[len(values) // 2] * (unit if name == "us" else 1) if values else None
        rows.append(row)
    return sorted(rows, key=lambda r: -(r["us"] or 0) * r["calls"])
