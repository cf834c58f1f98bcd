#!/usr/bin/env python3
"""Runs tables of the 2019 paper without NUTS, as a reader would, and checks what comes out: every row is there
with every key, and agrees with the authors' code, or the figure that does not is known by name
(papers/titsias2019/agreement.cpp). Tables 2 to 6, nightly 1 to 6 (KILOCHAIN_TABLES). Usage: check_reproduce.py KILOCHAIN

49 rows of three ESS at |z| < 4, a t of 18 degrees of freedom or fewer (8e-4 each, 2e-3 with 11): a false alarm in one of 7
seeds; the seed is 1. The acceptance's band of 0.03 is what was promised, not what chance allows (the difference of two
means of ten has an sd of 0.013, of HMC's 0.05): the figures beyond it with seed 1 are known by name. A processor with
another vector width draws other chains: a new name is then looked at, and listed or mended. Without the data sets it is
skipped aloud.
"""
import json
import os
import subprocess
import sys
import tempfile

KEYS = {"source", "table", "target", "sampler", "repeats", "seconds", "seconds_batched", "real", "acceptance", "ess_min", "ess_median",
        "ess_max", "min_ess_per_second", "min_ess_per_second_sd", "published", "measured"}
SAMPLERS = "gad_mala_fast,gad_mala_exact,gad_rwm,am,rwm,mala,hmc"

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
if not any(os.path.isdir(os.path.join(root, d)) for d in ("../shared/data", "data/public")):
    print("SKIPPED: no data sets in ../shared/data or data/public (scripts/fetch_data)")
    sys.exit(77)  # skipped, for CTest

asked = [int(k) for k in os.environ.get("KILOCHAIN_TABLES", "2,3,4,5,6").split(",")]
expected = sum(14 if k == 1 else 7 for k in asked)  # rows
with tempfile.TemporaryDirectory() as folder:
    tables = [a for k in asked for a in ("--table", str(k))]
    run = subprocess.run([os.path.abspath(sys.argv[1]), "reproduce", "titsias2019", *tables, "--only", SAMPLERS, "--json", "--output", folder],
                         cwd=root, stdout=subprocess.PIPE, text=True)
    assert run.returncode in (0, 7), f"status {run.returncode}"  # 7: something deviates, and is named below
    rows = json.loads(run.stdout)
    whole = json.load(open(os.path.join(folder, "titsias2019.json")))

wrong = []
if len(rows) != expected:
    wrong.append(f"{len(rows)} rows, not {expected}")
for row in rows:
    if not KEYS <= row.keys():
        wrong.append(f"{row.get('target')} {row.get('sampler')}: no {sorted(KEYS - row.keys())}")
agree = 0
for row in whole:
    name = f"{row['target']} {row['sampler']}"
    agree += bool(row["agrees"])
    for finding in row["findings"]:
        print(f"{finding['name']}: {finding['what']}: {finding['reason'] or 'NOT EXPLAINED'}")
        if not finding["reason"]:
            wrong.append(f"{finding['name']}: {finding['what']}, and nobody has explained it")
    for known in row["stale"]:
        print(f"{known}: agrees, but is listed as a known deviation")
    if not row["agrees"] and not row["findings"]:
        wrong.append(f"{name}: does not agree, and nothing is listed")
if (run.returncode == 7) != any("explained" in w for w in wrong):
    wrong.append(f"status {run.returncode} does not say so")
print(f"{agree} of {len(whole)} rows agree with the authors' code; {len(wrong)} wrong")
print("\n".join(wrong))
sys.exit(bool(wrong))
