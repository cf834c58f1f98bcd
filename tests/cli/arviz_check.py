"""Opens a file of draws with ArviZ and prints what it sees as one JSON object.

usage: arviz_check.py FILE [VARIABLE]; exit status 77 when ArviZ cannot be imported.
{"groups": [...], "attributes": {...}, "dims": {...}, "summary": {label: {mean, sd, ess_bulk, ess_tail, r_hat, ...}}}
"""

import json
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import arviz
except ImportError as error:
    print(f"arviz_check: {error}", file=sys.stderr)
    sys.exit(77)


def plain(value):
    """A NumPy scalar or array as JSON has it."""
    return value.tolist() if hasattr(value, "tolist") else value


def main():
    data = arviz.from_netcdf(sys.argv[1])
    out = {
        "arviz": arviz.__version__,
        "groups": list(data.groups()),
        "dims": {
            group: {name: int(size) for name, size in data[group].sizes.items()} for group in data.groups()
        },
        "variables": {group: {name: str(array.dtype) for name, array in data[group].items()} for group in data.groups()},
    }
    if "posterior" in data.groups():
        out["attributes"] = {name: plain(value) for name, value in data["posterior"].attrs.items()}
        names = sys.argv[2:3] or None
        # `round_to="none"` keeps all digits, so that the caller may compare.
        table = arviz.summary(data, var_names=names, round_to="none")
        out["summary"] = {
            label: {column: float(value) for column, value in row.items()} for label, row in table.iterrows()
        }
    print(json.dumps(out))


if __name__ == "__main__":
    main()
