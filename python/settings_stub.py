"""Writes FOLDER/_settings.pyi for the package kilochain in that folder: what `sample` takes beside its own arguments, for
editors and type checkers, of the program's tables.

    python3 python/settings_stub.py build/release/python/kilochain
"""

import pathlib
import sys

OF_TYPES = {"integer": "int", "number": "float", "yes/no": "bool", "text": "str | os.PathLike[str] | np.ndarray"}
OWN = {"target", "sampler", "seed", "device", "max_seconds", "output", "init", "draws", "target_ess", "model"}
OWN |= {"num_chains", "num_warmup", "num_samples", "quiet", "verbose", "json"}


def kind_of(kind):
    return OF_TYPES.get(kind) or f"Literal[{', '.join(map(repr, kind.split('|')))}]"


def text(core, line):
    """core: kilochain._core; line: of kilochain.described."""
    tables = [("", core.settings())]
    tables += [(name, rows) for table in (core.samplers(), core.targets()) for name, (_, rows) in table.items()]
    found = {}
    for owner, rows in tables:
        for row in rows:
            if row[0] not in OWN:
                kinds, said = found.setdefault(row[0], ({}, {}))
                kinds[kind_of(row[1])] = True
                said.setdefault(line(row), []).append(owner)
    out = ["import os", "from typing import Literal, TypedDict", "", "import numpy as np", ""]
    out.append("class Settings(TypedDict, total=False):")
    for name, (kinds, said) in found.items():
        words = [f"{', '.join(filter(None, owners))}: {what}".removeprefix(": ") for what, owners in said.items()]
        out += [f"    {name}: {' | '.join(kinds)} | None", f"    {chr(10).join(words)!r}"]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    import _core
    from described import line

    (pathlib.Path(sys.argv[1]) / "_settings.pyi").write_text(text(_core, line))
