"""What is shown while a run goes on: a table in a notebook, a line in a terminal."""

import io
import sys
import types

import pytest

import kilochain as k
from conftest import SHORT

RUN = {**SHORT, "progress": True, "draws": 400}  # enough to converge: warnings are not progress


class Notebook:
    """IPython as far as progress knows it: what was displayed, and what in its place later."""

    def __init__(self):
        self.displayed, self.updates = [], []

    def display(self, shown, display_id):
        assert display_id is True
        self.displayed.append(shown._repr_html_())
        return types.SimpleNamespace(update=lambda shown: self.updates.append(shown._repr_html_()))


@pytest.fixture
def notebook(monkeypatch):
    book = Notebook()
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=book.display))
    return book


def test_a_notebook_has_one_table_that_is_refreshed(notebook, gaussian):
    k.sample(k.from_batched(gaussian, 3), **RUN)
    assert len(notebook.displayed) == 1 and notebook.displayed[0].startswith("<progress value=")
    last = notebook.updates[-1] if notebook.updates else notebook.displayed[0]
    assert "<tr><th>sampling</th><td>" in last and "<tr><th>acceptance</th><td>0." in last
    k.sample(k.from_batched(gaussian, 3), **RUN)
    assert len(notebook.displayed) == 2  # a table for each run


def test_an_automatic_run_says_what_it_waits_for_and_how_far_it_is(notebook):
    k.sample("gaussian", preset="gauss2d_corr", chains=64, draws=2000)
    assert len(notebook.displayed) == 1
    shown = notebook.displayed + notebook.updates
    assert any("<th>warm-up</th>" in s and "<th>waits for</th><td>" in s for s in shown)
    assert "<th>R-hat</th><td>" in shown[-1] and "<th>ESS</th><td>" in shown[-1] and "<th>left</th><td>" in shown[-1]


def test_a_search_too(notebook):
    k.tune("funnel", {"step_size": (0.1, 1)}, sampler="hmc", chains=8, warmup=50, trial_gradients=200, evaluations=4,
           confirm=0)
    assert len(notebook.displayed) == 1
    last = notebook.updates[-1]
    assert "<th>tune</th><td>4 of 4</td>" in last and "<th>with</th><td>step_size = " in last and "R-hat" not in last


def test_a_terminal_has_one_line_that_goes_away(monkeypatch, gaussian):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    k.sample(k.from_batched(gaussian, 3), **RUN)
    said = sys.stderr.getvalue()
    assert said.startswith("\rwarm-up ") and said.endswith("\r\033[K") and "\n" not in said


def test_nobody_is_told_nothing(capsys, gaussian):
    k.sample(k.from_batched(gaussian, 3), **RUN)
    assert capsys.readouterr() == ("", "")
