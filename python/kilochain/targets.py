"""What can be sampled: targets of the program by name, regressions and Gaussians from arrays, densities of the
caller's."""

import io
import itertools
import json
import os

import numpy as np

from kilochain import _core
from kilochain.errors import DataError, UsageError

_number = itertools.count(1)


class Target:
    """A target of the program by its name (`kilochain.targets()` lists them) and its settings.

    A setting may be an array: it is read from memory as a file of that array would be.
    """

    def __init__(self, name, **settings):
        self.name, self.settings, self.constrain, self.labels = name, {}, None, {}
        self._kept = []  # what must live as long as runs of this target
        self._density = None
        for key, value in settings.items():
            if isinstance(value, np.ndarray):
                value = self._keep(key, _npy(value))
            self.settings[key] = value

    def _keep(self, what, content):
        """The name under which readers of data find bytes."""
        self._kept.append(_core.FileInMemory(f"<{what} {next(_number)}>", content))
        return self._kept[-1].name

    def __repr__(self):
        return f"kilochain.Target({self.name!r}{''.join(f', {k}={v!r}' for k, v in self.settings.items())})"


def _npy(array):
    out = io.BytesIO()
    array = array if array.dtype.names else np.ascontiguousarray(array, dtype=np.float64)
    np.lib.format.write_array(out, array, version=(3, 0))  # with names in UTF-8
    return out.getvalue()


def _columns(X):
    """Names and values of a frame or an array (rows, columns)."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2:
        raise DataError(f"X has {values.ndim} dimensions (shape {values.shape}). Give one row for each observation?")
    names = [str(n) for n in X.columns] if hasattr(X, "columns") else [f"x{j}" for j in range(values.shape[1])]
    return names, values


def _table(X, label, y):
    """X with the column `label` behind it, as the bytes of an array of records."""
    names, values = _columns(X)
    if len(y) != len(values):
        raise DataError(
            f"X and y do not go together ({len(values)} rows of X, {len(y)} of y). Is one of them cut short?"
        )
    columns = [*names, label]
    if len(set(columns)) < len(columns):
        raise DataError(f"two columns have the same name ({', '.join(columns)}). Rename one of them?")
    if strange := [n for n in columns if "\\" in n or not n.isprintable() or "'" in n and '"' in n]:
        raise DataError(f"a column has a name that cannot be kept ({strange[0]!r}). Rename it?")
    table = np.empty(len(values), dtype=[(n, "<f8") for n in columns])
    for j, name in enumerate(names):
        table[name] = values[:, j]
    table[label] = y
    return _npy(table)


def LogisticRegression(X, y, prior_sd=1, **settings):
    """Bayesian logistic regression.

    X: array or frame (rows, features), whose column names become labels; y: (rows), 0 or 1. Features are centred and
    divided by their standard deviation unless standardise=False; an intercept is added unless bias=False; each weight
    has a normal prior of mean 0 and standard deviation prior_sd. Other settings:
    kilochain.targets()["logistic_regression"]. Raises DataError for what is no number, for another number of labels,
    and for labels that are not 0 or 1.
    """
    target = Target("logistic_regression", prior_sd=prior_sd, **settings)
    target.settings["data"] = target._keep("X, y", _table(X, "y (label)", np.asarray(y, dtype=np.float64)))
    return target


def SoftmaxRegression(X, y, prior_sd=1, **settings):
    """The same for K classes. y: (rows), whole numbers or words, which become labels of the weights."""
    classes, number = np.unique(np.asarray(y), return_inverse=True)
    target = Target("softmax_regression", prior_sd=prior_sd, **settings)
    target.settings["data"] = target._keep("X, y", _table(X, "y (label)", number))
    target.labels = {"w_dim_0": [c.item() for c in classes]}
    return target


def Gaussian(cov, mean=None):
    """A Gaussian. cov: (n, n), symmetric and positive definite; mean: (n), zeros when it is not given."""
    means = {} if mean is None else {"mean": np.asarray(mean, dtype=np.float64)}
    return Target("gaussian", covariance=np.asarray(cov, dtype=np.float64), **means)


def _own(density, name):
    target = Target(name)
    target._density = density
    return target


def from_batched(f, dim, names=None, constrain=None):
    """A density of many points in one call, on the CPU.

    f(x) -> (lp, gradient): x is (chains, dim), float64 and read-only, and its memory is valid in the call alone; lp is
    (chains), gradient (chains, dim). It is called once a round for all chains that ask, by one thread at a time. A
    point whose lp is not finite is a rejected proposal. What f raises ends the run and is raised again, with the
    draws until then in its attribute `partial`. All coordinates are real; names: one for each. constrain(x) -> {name:
    values} makes what is recorded of draws, x (chains, draws, dim) to arrays (chains, draws, ...); without it the
    coordinates are.
    """
    dim = int(dim)

    def checked(x):
        lp, gradient = f(x)
        lp, gradient = np.ascontiguousarray(lp, np.float64), np.ascontiguousarray(gradient, np.float64)
        if lp.shape != x.shape[:1] or gradient.shape != x.shape:
            raise ValueError(
                f"the density's answer has another shape (lp {lp.shape}, gradient {gradient.shape}, for x "
                f"{x.shape}). Does it return lp (chains) and the gradient (chains, dim)?"
            )
        return lp, gradient

    name = f"density {next(_number)}"
    target = _own(_core.Density(name, checked, dim, list(names or [])), name)
    target.constrain = constrain
    return target


def from_c(address, dim, user_data=0, names=None, batched=False):
    """A C function by its address (of numba's cfunc, ctypes, cffi), with the signature that kilochain/c.h calls
    kilochain_density, or kilochain_density_of_chains when batched. Threads call it side by side, without Python's lock.
    What it needs must live as long as the target: keep it."""
    name = f"density {next(_number)}"
    return _own(_core.Density(name, int(address), int(user_data), bool(batched), int(dim), list(names or [])), name)


def from_stan(model, data=None, **settings):
    """A Stan program, unchanged. model: a path, of a .stan file or of a library made of one, or the program's text;
    data: a mapping, JSON text or a path. Needs stanc and Stan's headers (docs/stan.md). Parameters, transformed
    parameters and generated quantities are recorded."""
    if "{" in str(model):
        model = _stan_file(model)
    target = Target("stan", model=os.fspath(model), **settings)
    if data is not None:
        if not isinstance(data, (str, os.PathLike)):
            data = json.dumps(data, default=lambda v: np.asarray(v).tolist())
        text = os.fspath(data)
        target.settings["data"] = target._keep("data", text.encode()) if "{" in text else text
    return target


def _stan_file(text):
    """A program's text as a file, under the name that this text always has."""
    import hashlib
    import tempfile

    path = os.path.join(tempfile.gettempdir(), f"kilochain-{hashlib.sha256(text.encode()).hexdigest()[:16]}.stan")
    with open(path, "w") as out:
        out.write(text)
    return path


def from_jax(logp, dim, names=None, constrain=None):
    """A density written for JAX: logp(x) of one point x (dim) is a number. Gradients and many points at once are made
    of it (value_and_grad, vmap, jit), in double where JAX has it enabled (jax_enable_x64), else in single precision."""
    import jax

    of_chains = jax.jit(jax.vmap(jax.value_and_grad(logp)))
    return from_batched(lambda x: of_chains(x), dim, names, constrain)


def _as_target(model, settings):
    """The target, and with a name its settings taken out of `settings`."""
    if isinstance(model, Target):
        return model
    if not isinstance(model, str):
        raise UsageError(
            f"this is no model ({type(model).__name__}). Give a name of kilochain.targets(), or "
            "kilochain.LogisticRegression(X, y), from_stan, from_batched, ...?"
        )
    if model not in _core.targets():
        return Target(model)  # the run says which names are near
    own = {row[0] for row in _core.targets()[model][1]}
    return Target(model, **{key: settings.pop(key) for key in list(settings) if key in own})
