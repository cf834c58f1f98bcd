"""Thousands of adaptive MCMC chains at once: `kilochain.sample(model)` gives an xarray.DataTree that ArviZ reads.

>>> tree = kilochain.sample(kilochain.LogisticRegression(X, y), progress=False)
>>> kilochain.summary(tree).shape
(4, 9)
"""

from kilochain import processor

processor.require()  # before the extension is loaded

from kilochain._core import version as __version__
from kilochain.densities import from_batched, from_c, from_jax, from_numpyro, from_pymc, from_stan, from_torch
from kilochain.errors import (
    ConvergenceWarning,
    DataError,
    DeviceError,
    Error,
    OutOfTimeWarning,
    OutputError,
    QuarantineWarning,
    RunWarning,
    UsageError,
)
from kilochain.sampling import Sampling, estimate, read, resume, sample, samplers, targets
from kilochain.targets import (
    Gaussian,
    Ising,
    LinearRegression,
    LogisticRegression,
    NegativeBinomialRegression,
    PoissonRegression,
    SoftmaxRegression,
    SpinGlass,
    Target,
)
from kilochain.tree import summary, to_inferencedata
from kilochain.tuning import Tuned, tune

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "DeviceError",
    "Error",
    "Gaussian",
    "Ising",
    "LinearRegression",
    "LogisticRegression",
    "NegativeBinomialRegression",
    "OutOfTimeWarning",
    "OutputError",
    "PoissonRegression",
    "QuarantineWarning",
    "RunWarning",
    "Sampling",
    "SoftmaxRegression",
    "SpinGlass",
    "Target",
    "Tuned",
    "UsageError",
    "__version__",
    "estimate",
    "from_batched",
    "from_c",
    "from_jax",
    "from_numpyro",
    "from_pymc",
    "from_stan",
    "from_torch",
    "read",
    "resume",
    "sample",
    "samplers",
    "summary",
    "targets",
    "to_inferencedata",
    "tune",
]
