"""The notebooks in examples/notebooks run from their first cell to their last, where what they import is installed."""

import json
import pathlib
import re
import warnings

import pytest

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook(path, monkeypatch):
    cells = ["".join(c["source"]) for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    for module in re.findall(r"^(?:import|from) (\w+)", "\n".join(cells), re.M):
        pytest.importorskip(module)
    if "matplotlib" in "".join(cells):
        import matplotlib

        matplotlib.use("Agg")
    monkeypatch.chdir(FOLDER)
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spins at the critical temperature have not converged, and say so
        for cell in cells:
            try:
                exec(compile(cell, str(path), "exec"), names)
            except Exception as error:
                if "stanc" in str(error):
                    pytest.skip(f"no stanc here: {error}")
                raise
