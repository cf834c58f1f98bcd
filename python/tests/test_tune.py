"""Searches for a sampler's settings from Python."""

import os

import numpy as np
import pytest

import kilochain as k

SEARCH = dict(sampler="hmc", chains=8, warmup=100, trial_gradients=800, confirm=0, progress=False)
OVER = {"step_size": (0.01, 2, "log"), "num_steps": (1, 8)}


def test_a_search_and_a_run_with_what_it_found(gaussian, tmp_path):
    model = k.from_batched(gaussian, 3)
    tuned = k.tune(model, OVER, **{**SEARCH, "confirm": 2}, evaluations=10, output=tmp_path / "t", threads=1)
    assert len(tuned.trials) == 10 and [t["trial"] for t in tuned.trials] == list(range(10))
    assert tuned.best["step_rule"] == "fixed" and 1 <= tuned.best["num_steps"] <= 8
    assert isinstance(tuned.best["num_steps"], int) and 0.01 <= tuned.best["step_size"] <= 2
    settings = {key: tuned.best[key] for key in OVER}
    (trial,) = [t for t in tuned.trials if t["settings"] == settings]
    assert trial["score"] == pytest.approx(tuned.score, rel=1e-12)  # exp(log(score))
    assert set(tuned.confirmed) == {"best", "untuned"} and tuned.confirmed["best"][1] >= 0
    assert set(os.listdir(tuned.folder)) == {"trials.jsonl", "best.toml", "surface.json", "policy.csv"}
    tree = k.sample(model, sampler="hmc", chains=8, warmup=200, draws=200, progress=False, **tuned.best)
    assert np.isfinite(tree["posterior"]["x"]).all()


def test_a_search_ends_as_the_callback_says_and_goes_on(tmp_path):
    told = []

    def three(p):
        told.append(p)
        return p["phase"] == "tune" and p["done"] >= 3

    search = {**SEARCH, "batch": 2, "threads": 1, "evaluations": 8}
    with pytest.warns(k.RunWarning, match="interrupted"):
        some = k.tune("gaussian", OVER, preset="gauss2d_corr", output=tmp_path, progress_callback=three, **search)
    assert 3 <= len(some.trials) < 8 and told[-1]["total"] == 8 and "step_size = " in told[-1]["best"]
    rest = k.tune("gaussian", OVER, preset="gauss2d_corr", output=tmp_path, **search)
    whole = k.tune("gaussian", OVER, preset="gauss2d_corr", **search)
    assert rest.trials[:3] == some.trials[:3] and whole.folder is None
    assert [t["settings"] for t in rest.trials] == [t["settings"] for t in whole.trials] and rest.best == whole.best


def test_what_cannot_be_is_said(gaussian):
    with pytest.raises(k.UsageError, match="sampler hmc has no setting step_sze.*Did you mean step_size"):
        k.tune("funnel", {"step_sze": (0.1, 1)}, **SEARCH)
    with pytest.raises(k.UsageError, match="settings: num_samples is not for tune"):
        k.tune("funnel", OVER, draws=100, **SEARCH)

    def fails(x):
        if gaussian.calls > 200:
            raise LookupError("mine")
        return gaussian(x)

    with pytest.raises(LookupError, match="mine"):
        k.tune(k.from_batched(fails, 3), OVER, evaluations=4, **SEARCH)


def test_the_settings_of_a_search_stand_in_its_help():
    rows = k._core.tune_settings()
    assert {"over", "objective", "evaluations", "trial_warmup"} <= {row[0] for row in rows}
    for name, kind, standard, reach, meaning in rows:
        assert name in ("over", "output") or k.described.line((name, kind, standard, reach, meaning)) in k.tune.__doc__
