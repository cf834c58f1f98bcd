#!/usr/bin/env python3
"""How many times faster than the authors' Octave each row of `kilochain reproduce titsias2019` is, against the bars:
alone 10 (Caravan 4), batched 30 (Caravan 10, in float 18), one core. Prints a JSON line for each row; fails when one
misses its bar.

    build/release/kilochain reproduce titsias2019 --json > rows.json && python3 bench/bars_titsias2019.py rows.json
"""
import argparse
import json
import sys

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("rows", type=argparse.FileType(), help="what `kilochain reproduce titsias2019 --json` printed")
missed = []
for row in json.load(parser.parse_args().rows):
    octave = (row.get("measured") or {}).get("seconds")
    if not octave:
        continue  # the authors' code was not timed on this row
    alone, batched = octave / row["seconds"], octave / row["seconds_batched"]
    bars = (4, 18 if row["real"] == "float" else 10) if row["target"] == "caravan" else (10, 30)
    good = alone >= bars[0] and batched >= bars[1]
    print(json.dumps({"target": row["target"], "sampler": row["sampler"], "real": row["real"], "octave_seconds": octave, "alone": round(alone, 1),
                      "batched": round(batched, 1), "bar_alone": bars[0], "bar_batched": bars[1], "within_bars": good}))
    if not good:
        missed.append(f"{row['target']} {row['sampler']}")
if missed:
    sys.exit(f"bars_titsias2019: {len(missed)} rows miss their bar ({', '.join(missed)}). Was the machine busy?")
