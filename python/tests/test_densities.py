"""Densities of the caller's: Python functions, C functions by their address, Stan programs, JAX."""

import ctypes
import importlib.util
import os
import sys
import types
import warnings

import numpy as np
import pytest

import kilochain as k
from conftest import SHORT, means_agree


def test_a_function_of_many_points(gaussian):
    tree = k.sample(k.from_batched(gaussian, 3, names=["a", "b", "c"]), **SHORT)
    means_agree(tree, "a", [0]), means_agree(tree, "b", [1]), means_agree(tree, "c", [2])
    assert gaussian.most == SHORT["chains"]  # one call for all that ask


def test_the_default(gaussian):
    tree = k.sample(k.from_batched(gaussian, 3), progress=False)
    assert tree["posterior"].sizes["chain"] in (16, 32, 64) and gaussian.most == 64  # as many chains as pay
    assert tree.attrs["converged"] and "chains, because a gradient takes" in tree.attrs["notes"][0]
    means_agree(tree, "x", [0, 1, 2])


def test_the_default_with_a_thousand_chains(gaussian):
    tree = k.sample(k.from_batched(gaussian, 3), chains=1000, progress=False)
    assert tree["posterior"].sizes["chain"] == 1000 and tree["posterior"].sizes["draw"] < 150
    assert gaussian.most == 1000
    assert tree["posterior"].coords["superchain"][17] == 17 % tree.attrs["superchains"]
    means_agree(tree, "x", [0, 1, 2])


def test_what_is_recorded_can_be_something_else(gaussian):
    model = k.from_batched(gaussian, 3, constrain=lambda x: {"scale": np.exp(x[..., 0]), "rest": x[..., 1:]})
    posterior = k.sample(model, **SHORT)["posterior"]
    assert posterior["scale"].dims == ("chain", "draw") and (posterior["scale"] > 0).all()
    assert posterior["rest"].dims == ("chain", "draw", "rest_dim_0")


def test_components_that_may_swap():
    y = np.where(np.arange(60) % 3 == 0, 5.0, -3.0) + np.sin(np.arange(60.0) ** 2)

    def density(x):
        mu, t = x[:, :2, None], x[:, 2, None]
        shares = np.stack([-np.logaddexp(0, -t), -np.logaddexp(0, t)], axis=1)
        terms = shares - (y - mu) ** 2 / 2
        total = np.logaddexp(terms[:, 0], terms[:, 1])
        r = np.exp(terms - total[:, None])
        lp = total.sum(axis=1) - (x**2).sum(axis=1) / 50
        of_share = (r[:, 0] - 1 / (1 + np.exp(-t))).sum(axis=1)
        return lp, np.column_stack([(r * (y - mu)).sum(axis=2), of_share]) - x / 25

    model = k.from_batched(density, 3, names=["mu[0]", "mu[1]", "share"])
    tree = k.sample(model, chains=16, seed=1, progress=False)
    assert tree.attrs["converged"] and tree.attrs["equal_modes"].startswith("2 equal ones"), tree.attrs
    mu = tree["posterior"]["x"].values[..., :2]
    assert abs(mu.mean(axis=(0, 1)) - mu.mean()).max() < 0.5 and mu.std(axis=(0, 1)).min() > 3
    one = k.sample(model, chains=16, seed=1, progress=False, equal_modes="one")["posterior"]["x"].values
    assert one.std(axis=(0, 1)).max() < 0.7


def test_modes_that_differ_have_their_weights():
    def density(x):
        a = np.log(0.3) - ((x + 10) ** 2).sum(axis=1) / 2
        b = np.log(0.7) - 3 * np.log(2) - ((x - 15) ** 2).sum(axis=1) / 8
        lp = np.logaddexp(a, b)
        share = np.exp(a - lp)[:, None]
        return lp, -share * (x + 10) - (1 - share) * (x - 15) / 4

    tree = k.sample(k.from_batched(density, 3), chains=16, seed=1, progress=False)
    assert tree.attrs["converged"] and tree.attrs["unequal_modes"].startswith("2, laid over"), tree.attrs
    x = tree["posterior"]["x"].values
    share = (x[..., 0] > 0).mean()
    assert abs(share - 0.7) < 5 * np.sqrt(0.21 / x[..., 0].size), share  # a false alarm in 1.7 million


def test_its_exception_is_raised_again_with_the_draws(gaussian):
    def fails_late(x):
        if gaussian.calls > 3000:
            raise LookupError("mine")
        return gaussian(x)

    def fails(x):
        raise LookupError("at once")

    with pytest.raises(LookupError, match="mine") as told:
        k.sample(k.from_batched(fails_late, 3), **{**SHORT, "draws": 10**6, "keep": "moments"})
    assert told.value.partial.attrs["target"].startswith("density")
    with pytest.raises(LookupError, match="at once"):
        k.sample(k.from_batched(fails, 3), **SHORT)


def test_answers_of_another_shape_are_told(gaussian):
    with pytest.raises(ValueError, match=r"the density's answer has another shape \(lp \(8, 1\)"):
        k.sample(k.from_batched(lambda x: (gaussian(x)[0][:, None], gaussian(x)[1]), 3), **SHORT)


def test_a_point_without_a_value_is_rejected(gaussian):
    def half(x):
        lp, gradient = gaussian(x)
        return np.where(x[:, 0] > 0, -np.inf, lp), gradient

    def sampled(init):
        return k.sample(k.from_batched(half, 3), init=init, **SHORT)["posterior"]["x"].values

    with warnings.catch_warnings():  # starts without a value are drawn again
        warnings.simplefilter("error", k.QuarantineWarning)
        warnings.simplefilter("ignore", k.ConvergenceWarning)
        assert (sampled("normal:0.1")[..., 0] <= 0).all()
    starts = np.full((SHORT["chains"], 3), -0.1)
    starts[1] = 0.1
    with pytest.warns(k.QuarantineWarning, match="the log density at its starting point is not finite"):
        x = sampled(starts)
    assert np.isnan(x[1]).all() and (np.delete(x, 1, axis=0)[..., 0] <= 0).all()


def test_a_nan_is_a_rejected_proposal_and_counted(gaussian):
    seen = []

    def half(x):
        lp, gradient = gaussian(x)
        out = x[:, 0] > 1
        seen.append(out.sum())
        return np.where(out, np.nan, lp), np.where(out[:, None], np.nan, gradient)

    settings = {**SHORT, "sampler": "mala", "init": "zeros"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", k.ConvergenceWarning)
        tree = k.sample(k.from_batched(half, 3), **settings)
    assert (tree["posterior"]["x"].values[..., 0] <= 1).all() and sum(seen) > 0
    (note,) = [n for n in tree.attrs["notes"] if "rejected where the density has no value" in n]
    assert note == f"{sum(seen)} proposals were rejected where the density has no value; the first: it is NaN"


def test_a_density_on_a_device_has_arrays_in_its_memory(gaussian):
    """As far as that goes without one: the function that a run calls, on memory of the host."""
    seen, broken = [], []

    def of_host(array):  # what CuPy does, on a device
        interface = array.__cuda_array_interface__
        assert interface["version"] == 3 and interface["strides"] is None and interface["typestr"] == "<f8"
        address, read_only = interface["data"]
        seen.append((array.shape == interface["shape"], read_only, array.stream, interface["stream"]))
        count = int(np.prod(array.shape))
        return np.frombuffer((ctypes.c_double * count).from_address(address)).reshape(array.shape)

    def f(x, lp, gradient):
        if broken:
            raise LookupError("mine")
        of_host(lp)[:], of_host(gradient)[:] = gaussian(of_host(x))

    model = k.from_batched(f, 3, constrain=lambda x: {"a": x[..., 0]}, device="cuda")
    call = model._kept[0]
    x, gradient, lp = np.arange(6.0).reshape(2, 3), np.zeros((2, 3)), np.zeros(2)
    arguments = [2, 3, x.ctypes.data, 3, gradient.ctypes.data, lp.ctypes.data, 4242, None]
    assert call(*arguments) == 0 and (lp == gaussian(x)[0]).all() and (gradient == gaussian(x)[1]).all()
    assert sorted(seen) == [(True, False, 4242, 4242)] * 2 + [(True, True, 4242, 4242)]
    arguments[6] = None  # the default stream, which both protocols call 1
    seen.clear()
    assert call(*arguments) == 0 and seen[0][2:] == (1, 1)
    broken.append(True)
    assert call(*arguments) == 1 and call(*arguments) == 1  # rejects all, and is not asked again
    with pytest.raises(k.UsageError, match="the density is for a CUDA device .*this run is on the CPU"):
        k.sample(model, **{**SHORT, "device": "cpu"})
    here = k.from_batched(gaussian, 3)  # a run whose function has raised ends, and raises it again
    here._raised = model._raised
    with pytest.raises(LookupError, match="mine") as told:
        k.sample(here, **{**SHORT, "draws": 10**9, "keep": "moments"})
    assert told.value.partial.attrs["target"] == here.name


double_p = ctypes.POINTER(ctypes.c_double)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, double_p, double_p, double_p, ctypes.c_void_p)
def c_density(n, x, gradient, lp, user_data):
    lp[0] = -sum((x[i] - i) ** 2 for i in range(n)) / 2
    for i in range(n):
        gradient[i] = i - x[i]
    return 0


def test_a_c_function_by_its_address(gaussian):
    model = k.from_c(ctypes.cast(c_density, ctypes.c_void_p).value, 3)
    settings = {**SHORT, "chains": 4, "draws": 400}
    assert np.allclose(
        k.sample(model, **settings)["posterior"]["x"],
        k.sample(k.from_batched(gaussian, 3), **settings)["posterior"]["x"],
        rtol=1e-9,
    )


def test_numba(gaussian):
    numba = pytest.importorskip("numba")
    from numba import cfunc, types

    signature = types.int32(
        types.uintp,
        types.CPointer(types.double),
        types.CPointer(types.double),
        types.CPointer(types.double),
        types.voidptr,
    )

    @cfunc(signature)
    def density(n, x, gradient, lp, user_data):
        lp[0] = 0
        for i in range(n):
            gradient[i] = i - x[i]
            lp[0] -= gradient[i] ** 2 / 2
        return 0

    means_agree(k.sample(k.from_c(density.address, 3), **SHORT), "x", [0, 1, 2])


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    tree = k.sample(k.from_jax(lambda x: -((x - jax.numpy.arange(3)) ** 2).sum() / 2, 3), **SHORT)
    means_agree(tree, "x", [0, 1, 2])


@pytest.mark.parametrize("asked", [1, 2, 31, 32, 33, 65, 257, 1000])
def test_jax_compiles_for_few_numbers_of_points(asked):
    from kilochain.densities import _compiled_sizes

    x = np.arange(2.0 * asked).reshape(asked, 2)
    parts = list(_compiled_sizes(x, np))
    assert len(parts) <= 2 and len({len(p) for p in parts}) == 1 and len(parts[0]) in (16, 64, 256, 1024)
    assert (np.concatenate(parts)[:asked] == x).all() and (np.concatenate(parts)[asked:] == x[0]).all()


def test_jax_with_an_example_of_a_point():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def logp(point):
        return -((point["a"] - 1) ** 2).sum() / 2 - (point["b"] ** 2) / 8

    example = {"a": np.zeros((2, 3)), "b": 0.0}
    posterior = (tree := k.sample(k.from_jax(logp, example), **SHORT))["posterior"]
    assert posterior["a"].sizes["a_dim_1"] == 3 and posterior["b"].dims == ("chain", "draw")
    means_agree(tree, "a", [1] * 6), means_agree(tree, "b", [0])
    square = k.from_jax(logp, example, constrain=lambda draws: {"square": draws["b"] ** 2})
    tree = k.sample(square, **SHORT)
    assert np.allclose(tree["posterior"]["square"], posterior["b"] ** 2)


def test_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed: from_torch is not tested")
    tree = k.sample(k.from_torch(lambda x: -((x - torch.arange(3)) ** 2).sum() / 2, 3), **SHORT)
    means_agree(tree, "x", [0, 1, 2])
    tree = k.sample(k.from_torch(lambda p: -(p["a"] ** 2).sum() / 2, {"a": np.zeros((2, 2))}), **SHORT)
    assert tree["posterior"]["a"].dims == ("chain", "draw", "a_dim_0", "a_dim_1")


def test_pymc():
    pytest.importorskip("nutpie", reason="nutpie is not installed: from_pymc is tested on functions in its place alone")
    pymc = pytest.importorskip("pymc")
    y = np.random.default_rng(0).normal(1, 2, size=(50, 3))
    with pymc.Model(coords={"group": ["a", "b", "c"]}) as model:
        mu, sd = pymc.Normal("mu", 0, 10, dims="group"), pymc.HalfNormal("sd", 5)
        pymc.Deterministic("twice", 2 * mu, dims="group")
        pymc.Normal("y", mu, sd, observed=y)
    posterior = k.sample(k.from_pymc(model), **SHORT)["posterior"]
    assert set(posterior.data_vars) == {"mu", "sd", "twice"} and (posterior["sd"] > 0).all()
    assert posterior["mu"].dims == ("chain", "draw", "group")
    assert list(posterior["group"].values) == ["a", "b", "c"] and (posterior["twice"] == 2 * posterior["mu"]).all()
    assert abs(posterior["mu"].mean(("chain", "draw")) - y.mean(axis=0)).max() < 0.1


def test_numpyro():
    numpyro = pytest.importorskip("numpyro", reason="NumPyro is not installed: from_numpyro is not tested")
    from numpyro.distributions import Dirichlet, HalfNormal, Multinomial, Normal

    y = np.random.default_rng(0).normal([1, 2, 3], 2, size=(50, 3))
    counts = np.array([10, 20, 30])

    def model(y, scale=5.0):
        sd = numpyro.sample("sd", HalfNormal(scale))
        with numpyro.plate("group", 3):
            mu = numpyro.sample("mu", Normal(0, 10))
            numpyro.sample("pair", Normal(0, 1).expand([2]).to_event(1))
            with numpyro.plate("row", 50):
                numpyro.sample("y", Normal(mu, sd), obs=y)
        numpyro.deterministic("twice", 2 * mu)
        share = numpyro.sample("share", Dirichlet(np.ones(3)))
        numpyro.sample("counts", Multinomial(60, share), obs=counts)

    tree = k.sample(k.from_numpyro(model, y, scale=3.0), **SHORT)
    posterior = tree["posterior"]
    assert set(posterior.data_vars) == {"sd", "mu", "pair", "twice", "share"} and (posterior["sd"] > 0).all()
    assert posterior["mu"].dims == ("chain", "draw", "group") and posterior["share"].sizes["share_dim_0"] == 3
    assert posterior["pair"].dims == ("chain", "draw", "group", "pair_dim_1")
    assert np.allclose(posterior["twice"], 2 * posterior["mu"]) and np.allclose(posterior["share"].sum("share_dim_0"), 1)
    # Means of 2 400 draws, of which 500 count at least: 6 Monte Carlo errors at most.
    assert abs(posterior["mu"].mean(("chain", "draw")) - y.mean(axis=0)).max() < 6 * 0.3 / np.sqrt(500)
    assert abs(posterior["share"].mean(("chain", "draw")) - (counts + 1) / 63).max() < 6 * 0.065 / np.sqrt(500)


def test_what_nutpie_compiles_keeps_names_and_shapes(monkeypatch):
    size, pointer = ctypes.c_uint64, ctypes.POINTER(ctypes.c_double)

    @ctypes.CFUNCTYPE(ctypes.c_int64, size, pointer, pointer, pointer, ctypes.c_void_p)
    def density(n, x, gradient, lp, user_data):
        return c_density(n, x, gradient, lp, user_data)

    @ctypes.CFUNCTYPE(ctypes.c_int64, size, size, pointer, pointer, ctypes.c_void_p)
    def expand(n, expanded, x, out, user_data):  # a[2], its log, b
        out[0], out[1], out[2] = x[0], x[1], x[2]
        out[3], out[4] = np.exp(x[0]), np.exp(x[1])
        return 0

    def at(f):
        return types.SimpleNamespace(address=ctypes.cast(f, ctypes.c_void_p).value)

    compiled = types.SimpleNamespace(
        n_dim=3,
        n_expanded=5,
        compiled_logp_func=at(density),
        compiled_expand_func=at(expand),
        user_data=np.zeros(1),
        dims={"a": ("who",)},
        coords={"who": ["me", "you"], "unconstrained_parameter": ["a_log___0", "a_log___1", "b"]},
        shape_info=(["a_log__", "b", "a"], [slice(0, 2), slice(2, 3), slice(3, 5)], [(2,), (), (2,)]),
    )
    nutpie = types.SimpleNamespace(compile_pymc_model=lambda model, backend: compiled)
    monkeypatch.setitem(sys.modules, "nutpie", nutpie)
    named = [types.SimpleNamespace(name=n) for n in ("a", "b", "a_log__")]
    model = types.SimpleNamespace(value_vars=[named[2], named[1]], free_RVs=named[:2])
    tree = k.sample(k.from_pymc(model), **{**SHORT, "chains": 4, "draws": 20})
    posterior = tree["posterior"]
    assert posterior["a"].dims == ("chain", "draw", "who") and list(posterior["who"].values) == ["me", "you"]
    assert posterior["b"].dims == ("chain", "draw") and set(posterior.data_vars) == {"a", "b"}
    x = k.sample(k.from_c(at(density).address, 3), **{**SHORT, "chains": 4, "draws": 20})["posterior"]["x"].values
    assert (posterior["a"].values == np.exp(x[..., :2])).all() and (posterior["b"].values == x[..., 2]).all()
    assert list(k.summary(tree).index) == ["a_log___0", "a_log___1", "b"]


def test_a_stan_program_and_its_shapes():
    if "STAN_HOME" not in os.environ and not importlib.util.find_spec("httpstan"):
        pytest.skip("STAN_HOME is not set, and httpstan is not installed")
    text = (
        "data { int n; vector[n] y; } parameters { real mu; } model { mu ~ normal(0, 10); y ~ normal(mu, 1); } "
        "generated quantities { matrix[2, 3] m = mu + rep_matrix(1, 2, 3); }"
    )
    y = np.array([1.0, 2.0, 4.5])
    tree = k.sample(k.from_stan(text, {"n": 3, "y": y}), **SHORT)
    means_agree(tree, "mu", [y.sum() / (3 + 0.01)])
    assert tree["posterior"]["m"].dims == ("chain", "draw", "m_dim_0", "m_dim_1")
    assert tree["posterior"]["m"].sizes["m_dim_1"] == 3 and list(tree["posterior"]["m"].coords["m_dim_0"].values) == [
        1,
        2,
    ]
    with pytest.raises(k.DataError, match="variable name=y"):
        k.sample(k.from_stan(text, {"n": 3}), **SHORT)
    with pytest.raises(k.DataError, match="stanc refuses the program"):
        k.sample(k.from_stan("parameters { real mu }"), **SHORT)


def test_the_package_that_brings_stan_is_found(monkeypatch, tmp_path):
    (tmp_path / "httpstan").mkdir()
    (tmp_path / "httpstan" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("STAN_HOME", "mine")
    k.from_stan("parameters { real x; } model { x ~ normal(0, 1); }")
    assert os.environ["STAN_HOME"] == "mine"
    monkeypatch.delenv("STAN_HOME")
    k.from_stan("parameters { real x; } model { x ~ normal(0, 1); }")
    assert os.environ["STAN_HOME"] == str(tmp_path / "httpstan")
