"""Runs from Python: what comes back, what is said, and how a run ends."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import kilochain as k
from conftest import SHORT, means_agree

cov = np.array([[1.0, 0.5], [0.5, 2.0]])
ENDLESS = dict(
    preset="gauss2d_corr", chains=4, warmup=50, draws=10**9, sampler="mala", keep="moments", progress=False
)


def test_a_gaussian_with_nothing_said_but_its_chains():
    tree = k.sample(k.Gaussian(cov), chains=64, progress=False)
    assert set(tree.children) == {"posterior", "sample_stats", "summary"}
    means_agree(tree, "x", [0, 0])
    assert tree.attrs["converged"] == 1 and tree.attrs["status"] == 0 and tree.attrs["reason"] == ""
    x = tree["posterior"]["x"]
    assert x.dims == ("chain", "draw", "x_dim_0") and x.dtype == np.float64 and x.sizes["chain"] == 64
    assert not x.values.flags.owndata  # a view of the run's memory
    lp = -0.5 * np.einsum("...i,ij,...j", x.values, np.linalg.inv(cov), x.values)
    constant = tree["sample_stats"]["lp"].values - lp
    assert np.ptp(constant) < 1e-12 * np.abs(lp).max()  # thousands of roundings of 2.2e-16
    assert tree["sample_stats"]["diverging"].dtype == bool


def test_the_same_seed_gives_the_same_draws():
    one, two, other = (k.sample(k.Gaussian(cov), seed=s, **SHORT)["posterior"]["x"].values for s in (None, 1, 2))
    assert (one == two).all() and not (one == other).any()


def test_a_target_by_name_with_its_settings_and_a_setting_of_the_sampler():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # trajectories are too short for it
        tree = k.sample("gaussian", preset="gauss2d_corr", max_tree_depth=3, **SHORT)
    assert tree["sample_stats"]["n_steps"].max() == 2**3 - 1
    assert tree.attrs["target"] == "gaussian"


def test_logistic_regression_from_arrays_and_frames_is_that_of_the_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(1)
    frame = pandas.DataFrame({"age in years": random.normal(40, 9, 200), "it's": random.normal(0, 3, 200)})
    y = (random.random(200) < 1 / (1 + np.exp(-(frame["age in years"] - 40) / 5))).to_numpy()
    tree = k.sample(k.LogisticRegression(frame, y, prior_sd=2), **SHORT)
    (variable,) = tree["posterior"].data_vars
    labels = list(tree["posterior"][variable].coords[variable + "_dim_0"].values)
    assert labels == ["age in years", "it's", "bias"]
    path = tmp_path / "d.csv"
    frame.assign(y=y.astype(int)).to_csv(path, index=False, float_format="%.17g")
    of_file = k.sample("logistic_regression", data=path, prior_sd=2, **SHORT)
    assert (of_file["posterior"][variable].values == tree["posterior"][variable].values).all()


def test_softmax_regression_takes_words():
    random = np.random.default_rng(2)
    X = random.normal(size=(120, 2))
    tree = k.sample(
        k.SoftmaxRegression(X, np.where(X[:, 0] > 0.5, "yes", np.where(X[:, 0] < -0.5, "no", "maybe"))), **SHORT
    )
    assert list(tree["posterior"]["w"].coords["w_dim_0"].values) == ["maybe", "no", "yes"]
    assert list(tree["posterior"]["w"].coords["w_dim_1"].values) == ["x0", "x1", "bias"]


def test_errors_have_the_programs_messages():
    with pytest.raises(k.UsageError, match="target funnel: its prior alone cannot be sampled"):
        k.sample("funnel", prior_only=True, progress=False)
    with pytest.raises(k.UsageError, match=r"unknown sampler .*nutz.*nuts"):
        k.sample(k.Gaussian(cov), sampler="nutz")
    with pytest.raises(k.UsageError, match="settings: unknown key max_tree_deph .*Did you mean max_tree_depth"):
        k.sample(k.Gaussian(cov), sampler="nuts", max_tree_deph=4)
    with pytest.raises(k.DataError, match="not symmetric"):
        k.sample(k.Gaussian([[1, 0], [0.5, 1]]), **SHORT)
    with pytest.raises(k.DataError, match="X, y [0-9]+>: a label is not 0 or 1"):
        k.sample(k.LogisticRegression(np.eye(3), [0, 1, 2]), **SHORT)
    with pytest.raises(k.DataError, match=r"3 rows of X, y of shape \(2,\)"):
        k.LogisticRegression(np.eye(3), [0, 1])
    with pytest.raises(k.DataError, match="NaN"):
        k.sample(k.LogisticRegression([[1.0], [np.nan]], [0, 1]), **SHORT)
    with pytest.raises(k.UsageError, match="this is no model"):
        k.sample(3)


def test_a_run_that_has_not_converged_warns_once():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tree = k.sample("funnel", chains=4, warmup=10, draws=10, progress=False)
    assert [w.category for w in told] == [k.ConvergenceWarning]
    assert tree.attrs["reason"] in str(told[0].message) and tree.attrs["converged"] == 0 and tree.attrs["status"] == 6


def test_ctrl_c_gives_what_was_drawn():
    def press(p):
        if p["phase"] == "sampling" and p["done"] > 0:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(k.RunWarning, match="interrupted"):
        tree = k.sample("gaussian", **ENDLESS, progress_callback=press)
    assert tree.attrs["status"] == 130 and len(k.summary(tree)) == 2


def test_a_callback_that_raises_ends_the_run():
    def fails(p):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        k.sample("gaussian", **ENDLESS, progress_callback=fails)


def test_a_run_beside_the_program():
    run = k.sample("gaussian", **ENDLESS, blocking=False)
    while not run.progress():
        run._thread.join(0.01)
    assert run.progress()["phase"] in ("warm-up", "sampling")
    run.stop()
    with pytest.warns(k.RunWarning, match="interrupted"):
        run.wait()


def test_draws_until_now_are_the_first_of_all(gaussian):
    def slow(x):
        time.sleep(0.002)
        return gaussian(x)

    model = k.from_batched(slow, 3)
    run = k.sample(model, chains=4, warmup=50, draws=10**5, sampler="mala", blocking=False, progress=False)
    until_now = None
    while until_now is None:
        until_now = run.partial()
    run.stop()
    with pytest.warns(k.RunWarning, match="interrupted"):
        tree = run.wait()
    draws = until_now["posterior"].sizes["draw"]
    assert 0 < draws <= tree["posterior"].sizes["draw"] and len(k.summary(until_now)) == 3
    for group in ("posterior", "sample_stats"):
        for name, values in until_now[group].data_vars.items():
            assert (values == tree[group][name][:, :draws]).all(), name
    with pytest.warns(k.RunWarning):
        assert run.partial().identical(tree)


def test_draws_of_the_warm_up_are_in_the_tree():
    settings = {**SHORT, "chains": 4}
    tree = k.sample(k.Gaussian(cov), save_warmup=True, **settings)
    assert list(tree["warmup_posterior"]["draw"].values) == list(range(settings["warmup"]))
    x = tree["warmup_posterior"]["x"].values
    lp = -0.5 * np.einsum("...i,ij,...j", x, np.linalg.inv(cov), x)
    constant = tree["warmup_sample_stats"]["lp"].values - lp
    assert np.ptp(constant) < 1e-12 * np.abs(lp).max()
    assert tree["warmup_sample_stats"]["acceptance_rate"].shape == (4, settings["warmup"])
    without = k.sample(k.Gaussian(cov), **settings)
    assert "warmup_posterior" not in without.children
    assert (without["posterior"]["x"].values == tree["posterior"]["x"].values).all()
    of_the_default = k.sample(k.Gaussian(cov), chains=64, save_warmup=True, progress=False)["warmup_posterior"]
    assert of_the_default.sizes["chain"] == 64 and of_the_default.sizes["draw"] > 50


def test_a_stop_in_the_warm_up_leaves_its_draws(gaussian):
    def slow(x):
        time.sleep(0.001)
        return gaussian(x)

    def press(p):
        if p["done"] > 20:
            os.kill(os.getpid(), signal.SIGINT)

    model = k.from_batched(slow, 3, constrain=lambda x: {"a": x[..., 0]})
    settings = dict(chains=4, warmup=10**5, draws=1, sampler="mala", progress=False)
    with pytest.raises(KeyboardInterrupt) as told:
        k.sample(model, progress_callback=press, **settings)
    draws = told.value.partial["warmup_posterior"]
    assert draws["a"].dims == ("chain", "draw") and draws.sizes["draw"] > 0
    assert told.value.partial["posterior"].sizes["draw"] == 0
    with pytest.warns(k.RunWarning, match="interrupted"):
        tree = k.sample(model, progress_callback=lambda p: p["done"] > 20, **settings)
    assert tree["warmup_posterior"].sizes["draw"] > 0


def test_a_regression_with_groups_by_name():
    random = np.random.default_rng(3)
    X, places = random.normal(size=(150, 2)), random.choice(["north", "south", "west"], 150)
    y = X[:, 0] + (places == "west")
    settings = {**SHORT, "units": "table"}
    tree = k.sample(k.LinearRegression(X, y + random.normal(size=150), groups=places), **settings)
    assert list(tree["posterior"]["alpha"].coords["alpha_dim_0"].values) == ["north", "south", "west"]
    assert list(tree["posterior"]["w"].coords["w_dim_0"].values) == ["x0", "x1", "bias"]
    for model in (k.PoissonRegression, k.NegativeBinomialRegression):
        tree = k.sample(model(X, random.poisson(np.exp(y)), groups=places), **settings)
        assert "w_table" in tree["posterior"] and tree["posterior"]["alpha"].sizes["alpha_dim_0"] == 3
    assert ("phi" in tree["posterior"]) and tree["posterior"]["phi"].min() > 0
    with pytest.raises(k.DataError, match="150 rows of X, groups of shape"):
        k.LinearRegression(X, y, groups=places[:7])


def test_resume_and_read_continue_as_if_nothing_had_happened(tmp_path):
    path = tmp_path / "draws.nc"
    whole = k.sample(k.Gaussian(cov), **SHORT)["posterior"]["x"].values
    model = k.Gaussian(cov)
    k.sample(model, output=path, **{**SHORT, "draws": 120})
    tree = k.resume(path, model, draws=300, progress=False)
    assert (tree["posterior"]["x"].values == whole).all()
    again = k.read(path)
    assert (again["posterior"]["x"].values == whole).all()
    assert (again["sample_stats"]["lp"].values == tree["sample_stats"]["lp"].values).all()
    with pytest.raises(k.DataError, match="not the one that the draws are of"):
        k.resume(path, k.Gaussian(np.eye(3)), draws=400, progress=False)


def test_starts_from_an_array():
    starts = np.arange(8.0).reshape(4, 2)
    settings = dict(chains=4, warmup=0, draws=1, sampler="nuts", step_size=1e-9, max_tree_depth=1, progress=False)
    with pytest.warns(k.ConvergenceWarning):
        x = k.sample(k.Gaussian(cov), init=starts, **settings)["posterior"]["x"].values[:, 0]
    assert np.abs(x - starts).max() < 1e-6  # one step of 1e-9


def test_two_runs_in_two_threads_do_not_disturb_each_other(gaussian):
    models = [k.Gaussian(cov), k.from_batched(gaussian, 3)]
    alone = [k.sample(m, **SHORT)["posterior"]["x"].values for m in models]
    beside = [None, None]

    def run(i):
        beside[i] = k.sample(models[i], **SHORT)["posterior"]["x"].values

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert all((a == b).all() for a, b in zip(alone, beside))


def test_threads_write_and_read_files_side_by_side(tmp_path):
    files, failed = [str(tmp_path / f"{i}.nc") for i in range(4)], []
    settings = {**SHORT, "threads": 1, "draws": 400}
    whole = k.sample(k.Gaussian(cov), **settings)["posterior"]["x"].values

    def run(path):
        try:
            for _ in range(20):
                k.sample(k.Gaussian(cov), output=path, overwrite=True, **settings)
                assert (k.read(path)["posterior"]["x"].values == whole).all()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(path,)) for path in files]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not failed, failed[0]


def test_estimate_and_registers():
    estimate = k.estimate(k.Gaussian(cov), chains=100, warmup=100, draws=100)
    assert estimate["fits"] and estimate["host_bytes"] > 0
    assert k.samplers()["nuts"]["settings"]["max_tree_depth"]["type"] == "integer"
    assert "prior_sd" in k.targets()["logistic_regression"]["settings"]
    assert "thin: keep every thin-th sample" in k.sample.__doc__


def test_runs_leak_nothing():
    def resident():
        with open("/proc/self/statm") as f:
            return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def runs(count):
        for _ in range(count):
            k.sample(k.Gaussian(cov), chains=4, warmup=5, draws=5, sampler="mala", threads=1, progress=False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        runs(200)
        before = resident()
        runs(1000)
    assert resident() - before < 1 << 20


def test_arviz_reads_it(tmp_path):
    arviz = pytest.importorskip("arviz")
    tree = k.sample(k.Gaussian(cov), **SHORT)
    data = tree if int(arviz.__version__.split(".")[0]) >= 1 else k.to_inferencedata(tree)
    figures = arviz.summary(data, round_to="none")
    ours = k.summary(tree)
    assert np.allclose(np.asarray(figures["mean"], float), ours["mean"], rtol=1e-12)


def test_arvizs_figures_and_pictures():
    arviz = pytest.importorskip("arviz")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    import xarray

    tree = k.sample(k.Gaussian(cov), **SHORT)
    x = tree["posterior"]["x"].values
    values = -((x[..., :1] - np.array([-1.0, 0.0, 1.0])) ** 2) / 2
    tree["log_likelihood"] = xarray.DataTree(xarray.Dataset({"y": (("chain", "draw", "place"), values)}))
    data = tree if int(arviz.__version__.split(".")[0]) >= 1 else k.to_inferencedata(tree)
    loo = arviz.loo(data)
    assert np.isfinite(float(loo.elpd if hasattr(loo, "elpd") else loo.elpd_loo))
    arviz.plot_trace(data)
    arviz.plot_rank(data)
    pyplot.close("all")
