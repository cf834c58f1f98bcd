"""What can be sampled: targets of the program by name, regressions, Gaussians and spin models from arrays."""

import io
import itertools

import numpy as np

from kilochain import _core
from kilochain.described import with_settings
from kilochain.errors import DataError, UsageError

_number = itertools.count(1)


class Target:
    """A target of the program by its name (`kilochain.targets()` lists them) and its settings.

    A setting may be an array: it is read from memory as a file of that array would be.
    """

    def __init__(self, name, **settings):
        self.name, self.settings, self.constrain, self.labels = name, {}, None, {}
        self._kept = []  # what must live as long as runs of this target
        self._density, self._raised = None, []  # what its own function has raised, where no C++ keeps it
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


def _table(X, **columns):
    """X with columns behind it, as the bytes of an array of records; with groups, numbers from 0, of a CSV table."""
    names, values = _columns(X)
    for what, column in columns.items():
        if np.shape(column) != values.shape[:1]:
            raise DataError(
                f"X and {what} do not go together ({len(values)} rows of X, {what} of shape {np.shape(column)}). Is one of "
                "them cut short?"
            )
    names += [f"{what} (column)" for what in columns]
    if len(set(names)) < len(names):
        raise DataError(f"two columns have the same name ({', '.join(names)}). Rename one of them?")
    if strange := [n for n in names if "\\" in n or not n.isprintable() or "'" in n and '"' in n]:
        raise DataError(f"a column has a name that cannot be kept ({strange[0]!r}). Rename it?")
    if "groups" in columns:
        cells = [map(repr, np.asarray(c).tolist()) for c in [*values.T, *columns.values()][:-1]]
        rows = zip(*cells, (f"{number:09d}" for number in columns["groups"]))  # by letter as by number
        head = ",".join('"' + name.replace('"', '""') + '"' for name in names)
        return "\n".join([head, *map(",".join, rows), ""]).encode()
    table = np.empty(len(values), dtype=[(n, "<f8") for n in names])
    for name, column in zip(names, [*values.T, *columns.values()]):
        table[name] = column
    return _npy(table)


def _regression(name, X, y, groups, settings):
    """The target of a table in memory. groups, by any names, become labels of alpha."""
    target = Target(name, **{key: value for key, value in settings.items() if value is not None})
    columns = {"y": np.asarray(y, dtype=np.float64)}
    if groups is not None:
        names, columns["groups"] = np.unique(np.asarray(groups), return_inverse=True)
        target.settings.update(groups="groups (column)", label="y (column)")
        target.labels = {"alpha_dim_0": [n.item() for n in names]}
    target.settings["data"] = target._keep("X, y", _table(X, **columns))
    return target


def LogisticRegression(X, y, prior_sd=1, groups=None, **settings) -> Target:
    """Bayesian logistic regression.

    X: array or frame (rows, features), whose column names become labels; y: (rows), 0 or 1; groups: (rows), names of any
    kind, each with an intercept of its own. Features are centred and divided by their standard deviation unless
    standardise=False; an intercept is added unless bias=False; each weight has a normal prior of mean 0 and standard
    deviation prior_sd. Raises DataError for what is no number, for another number of labels, and for labels that are
    not 0 or 1.

    >>> tree = kilochain.sample(kilochain.LogisticRegression(X, y), chains=64, progress=False)
    >>> list(kilochain.summary(tree).index)
    ['x0', 'x1', 'x2', 'bias']

    {settings}
    """
    return _regression("logistic_regression", X, y, groups, dict(prior_sd=prior_sd, **settings))


def LinearRegression(X, y, prior_sd=2.5, groups=None, **settings) -> Target:
    """The same for numbers: y is N(t, sigma^2). prior_sd: in standard deviations of y (docs/regression.md).

    >>> model = kilochain.LinearRegression(X, X[:, 0] + np.sin(50 * X[:, 1]), groups=np.where(y, "north", "south"))
    >>> tree = kilochain.sample(model, chains=64, warmup=200, draws=100, progress=False)
    >>> tree["posterior"]["alpha"].coords["alpha_dim_0"].values.tolist()
    ['north', 'south']

    {settings}
    """
    return _regression("linear_regression", X, y, groups, dict(prior_sd=prior_sd, **settings))


def PoissonRegression(X, y, prior_sd=2.5, groups=None, **settings) -> Target:
    """The same for counts, of mean exp(t).

    {settings}
    """
    return _regression("poisson_regression", X, y, groups, dict(prior_sd=prior_sd, **settings))


def NegativeBinomialRegression(X, y, prior_sd=2.5, groups=None, **settings) -> Target:
    """The same for counts of mean m = exp(t) and variance m + m^2 / phi.

    {settings}
    """
    return _regression("negative_binomial_regression", X, y, groups, dict(prior_sd=prior_sd, **settings))


def SoftmaxRegression(X, y, prior_sd=1, **settings) -> Target:
    """The same for K classes. y: (rows), whole numbers or words, which become labels of the weights.

    >>> model = kilochain.SoftmaxRegression(X, np.where(y, "yes", "no"))
    >>> tree = kilochain.sample(model, chains=64, warmup=200, draws=200, sampler="nuts", progress=False)
    >>> tree["posterior"]["w"].coords["w_dim_0"].values.tolist()
    ['no', 'yes']

    {settings}
    """
    classes, number = np.unique(np.asarray(y), return_inverse=True)
    target = _regression("softmax_regression", X, number, None, dict(prior_sd=prior_sd, **settings))
    target.labels = {"w_dim_0": [c.item() for c in classes]}
    return target


def Gaussian(cov, mean=None) -> Target:
    """A Gaussian. cov: (n, n), symmetric and positive definite; mean: (n), zeros when it is not given.

    >>> tree = kilochain.sample(kilochain.Gaussian([[1, 0.5], [0.5, 2]]), chains=64, progress=False)
    >>> tree["posterior"]["x"].dims
    ('chain', 'draw', 'x_dim_0')
    """
    means = {} if mean is None else {"mean": np.asarray(mean, dtype=np.float64)}
    return Target("gaussian", covariance=np.asarray(cov, dtype=np.float64), **means)


def Ising(size, coupling=1, beta=1, **settings) -> Target:
    """An Ising model on a periodic lattice: E = -sum J_ij S_i S_j - h sum S_i, law exp(-beta E).

    size: spins along each axis, (60, 60). coupling: J of every edge, or three arrays (i, j, J) with every edge of the
    lattice once, spins numbered row by row. Energy and magnetization are recorded.

    >>> tree = kilochain.sample(kilochain.Ising((8, 8), beta=0.3), sampler="gibbs", chains=16, warmup=50, draws=100,
    ...                         progress=False)
    >>> list(tree["posterior"].data_vars)
    ['energy', 'magnetization']

    {settings}
    """
    shape = [size] if isinstance(size, (int, np.integer)) else list(size)
    own = {"coupling": coupling} if np.ndim(coupling) == 0 else {"couplings": _edges(*coupling)}
    return Target("ising", size="x".join(str(n) for n in shape), beta=beta, **own, **settings)


def SpinGlass(couplings, beta=1, **settings) -> Target:
    """Spins on any graph, likewise. couplings: a matrix J (n, n), symmetric and zero on its diagonal, or three arrays
    (i, j, J) with each edge once.

    >>> model = kilochain.SpinGlass(([0, 1], [1, 2], [0.5, -1.5]))
    >>> tree = kilochain.sample(model, sampler="gibbs", chains=16, warmup=50, draws=100, progress=False)
    >>> sorted(set(tree["posterior"]["energy"].values.ravel().tolist()))
    [-2.0, -1.0, 1.0, 2.0]

    {settings}
    """
    if not isinstance(couplings, tuple):
        J = np.asarray(couplings, dtype=np.float64)
        if J.ndim != 2 or J.shape[0] != J.shape[1] or not (J == J.T).all() or J.diagonal().any():
            raise DataError(
                f"these are no couplings (an array of shape {J.shape}). Give a symmetric matrix with a diagonal of "
                "zeros, or a tuple of three arrays (i, j, J)?"
            )
        there = J != 0
        there[:1, 1:] |= ~there[:, 1:].any(axis=0)  # a spin that nothing is coupled to has an edge of J = 0
        i, j = np.nonzero(np.triu(there))
        couplings = (i, j, J[i, j])
    return Target("spin_glass", couplings=_edges(*couplings), beta=beta, **settings)


def _edges(i, j, J):
    """Edges as an array of records, which readers take for a table."""
    table = np.empty(len(J), dtype=[(name, "<f8") for name in ("i", "j", "J")])
    table["i"], table["j"], table["J"] = i, j, J
    return table


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


_of_tables = ("data", "prior_sd", "label", "groups")
for _function, _name, _own_names in (
    (LogisticRegression, "logistic_regression", _of_tables),
    (LinearRegression, "linear_regression", _of_tables),
    (PoissonRegression, "poisson_regression", _of_tables),
    (NegativeBinomialRegression, "negative_binomial_regression", _of_tables),
    (SoftmaxRegression, "softmax_regression", _of_tables),
    (Ising, "ising", ("size", "coupling", "couplings", "beta")),
    (SpinGlass, "spin_glass", ("couplings", "beta")),
):
    with_settings(_function, "Further settings:", _core.targets()[_name][1], _own_names)
