"""What users read: examples of docstrings and of docs/python.md run; settings in docstrings and in stubs are those of the
tables."""

import doctest
import importlib
import inspect
import pathlib
import re
import warnings

import numpy as np
import pytest

import kilochain as k

MODULES = ["", ".sampling", ".targets", ".densities", ".tree", ".tuning"]
ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / "docs" / "python.md"
CODE = [c for page in (PAGE, ROOT / "README.md") for c in re.findall("```python\n(.*?)```", page.read_text(), re.S)]


def examples():
    for module in map(importlib.import_module, (f"kilochain{name}" for name in MODULES)):
        yield from (t for t in doctest.DocTestFinder(exclude_empty=True).find(module) if t.examples)


@pytest.mark.parametrize("test", list(examples()), ids=lambda t: t.name)
def test_an_example(test, tmp_path):
    for modules in re.findall(r"^import (.*)", "".join(e.source for e in test.examples), re.M):
        for module in modules.split(", "):
            pytest.importorskip(module, reason=f"{module} is not installed: {test.name} is not tried")
    random = np.random.default_rng(1)
    X = random.normal(size=(200, 3))
    test.globs.update(kilochain=k, np=np, X=X, y=X[:, 0] + random.normal(size=200) > X[:, 1], folder=str(tmp_path))
    test.globs["model"] = k.Gaussian([[1, 0.5], [0.5, 2]])
    said = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some are too short to converge
        doctest.DocTestRunner().run(test, out=said.append)
    if "stanc and the headers of Stan are not there" in "".join(said):
        pytest.skip("there is no stanc: kilochain.from_stan is not tried")
    assert not said, "".join(said)


@pytest.mark.parametrize("code", [c for c in CODE if "import kilochain" in c])
def test_the_page(code, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(code, str(PAGE), "exec"), {})


def test_settings_in_docstrings_are_those_of_the_tables():
    kinds = {"logistic_regression": k.LogisticRegression, "softmax_regression": k.SoftmaxRegression, "stan": k.from_stan}
    kinds.update(ising=k.Ising, spin_glass=k.SpinGlass, linear_regression=k.LinearRegression)
    kinds.update(poisson_regression=k.PoissonRegression, negative_binomial_regression=k.NegativeBinomialRegression)
    for name, function in kinds.items():
        own = set(inspect.signature(function).parameters) | {"data", "label", "couplings"}
        for row in k._core.targets()[name][1]:
            assert (k.described.line(row) in function.__doc__) == (row[0] not in own), (name, row[0])
    said = {row[0] for row in k._core.settings() if k.described.line(row) in k.sample.__doc__}
    spoken_of = {*inspect.signature(k.sample).parameters} | {"target", "quiet", "verbose", "json"}
    spoken_of |= {"num_chains", "num_warmup", "num_samples"}
    assert said == {row[0] for row in k._core.settings()} - spoken_of
    assert k._core.samplers().keys() == k.samplers().keys() and k._core.targets().keys() == k.targets().keys()
    for of_core, told in ((k._core.samplers(), k.samplers()), (k._core.targets(), k.targets())):
        for name, (meaning, rows) in of_core.items():
            assert told[name]["meaning"] == meaning and "{settings}" not in (k.sample.__doc__ + k.tune.__doc__)
            settings = told[name]["settings"]
            assert [(n, s["type"], s["default"], s["range"], s["meaning"]) for n, s in settings.items()] == list(rows)


def test_the_stub_of_settings_is_that_of_the_tables():
    folder = pathlib.Path(k.__file__).parent
    stub = (folder / "_settings.pyi").read_text()
    compile(stub, "_settings.pyi", "exec")
    own = {*inspect.signature(k.sample).parameters, "num_chains", "num_warmup", "num_samples", "target"}
    own |= {"quiet", "verbose", "json"}
    tables = [k._core.settings(), *(rows for of in (k._core.samplers(), k._core.targets()) for _, rows in of.values())]
    known = {row[0]: None for rows in tables for row in rows if row[0] not in own}
    assert re.findall(r"^    (\w+): .* \| None$", stub, re.M) == list(known)
    for row in (row for rows in tables for row in rows if row[0] not in own):
        words = k.described.line(row)
        assert words in stub or repr(words)[1:-1] in stub, row[0]


def test_types_are_known_of():
    folder = pathlib.Path(k.__file__).parent
    assert (folder / "py.typed").exists()
    stub = (folder / "_core.pyi").read_text()
    for name in dir(k._core):
        assert name.startswith("_") or re.search(rf"\b{name}\b", stub), name
    for name in k.__all__:
        if inspect.isfunction(getattr(k, name)):
            assert "return" in getattr(k, name).__annotations__, name
