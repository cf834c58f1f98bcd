"""Densities of the caller's: Python functions, C functions by their address, Stan programs, JAX."""

import ctypes
import os

import numpy as np
import pytest

import kilochain as k
from conftest import SHORT, means_agree


def test_a_function_of_many_points(gaussian):
    tree = k.sample(k.from_batched(gaussian, 3, names=["a", "b", "c"]), **SHORT)
    means_agree(tree, "a", [0]), means_agree(tree, "b", [1]), means_agree(tree, "c", [2])
    assert gaussian.most == SHORT["chains"]  # one call for all that ask


def test_the_default_with_a_thousand_chains(gaussian):
    tree = k.sample(k.from_batched(gaussian, 3), progress=False)
    assert tree["posterior"].sizes["chain"] == 1000
    means_agree(tree, "x", [0, 1, 2])


def test_what_is_recorded_can_be_something_else(gaussian):
    model = k.from_batched(gaussian, 3, constrain=lambda x: {"scale": np.exp(x[..., 0]), "rest": x[..., 1:]})
    posterior = k.sample(model, **SHORT)["posterior"]
    assert posterior["scale"].dims == ("chain", "draw") and (posterior["scale"] > 0).all()
    assert posterior["rest"].dims == ("chain", "draw", "rest_dim_0")


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

    with pytest.warns(k.QuarantineWarning, match="the log density at its starting point is not finite"):
        x = k.sample(k.from_batched(half, 3), init="normal:0.1", **SHORT)["posterior"]["x"].values
    finite = x[~np.isnan(x).any(axis=(1, 2))]
    assert len(finite) and (finite[..., 0] <= 0).all()


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
    from numba import carray, cfunc, types

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


def test_a_stan_program_and_its_shapes():
    home = os.environ.get("STAN_HOME")
    if not home:
        pytest.skip("STAN_HOME is not set")
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
