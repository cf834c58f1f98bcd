"""Thousands of adaptive MCMC chains at once: `kilochain.sample(model)` gives an xarray.DataTree that ArviZ reads.

import kilochain
tree = kilochain.sample(kilochain.LogisticRegression(X, y))
kilochain.summary(tree)
"""

from kilochain._core import version as __version__
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
    LogisticRegression,
    SoftmaxRegression,
    Target,
    from_batched,
    from_c,
    from_jax,
    from_stan,
)
from kilochain.tree import summary, to_inferencedata

__all__ = [
    "ConvergenceWarning",
    "DataError",
    "DeviceError",
    "Error",
    "Gaussian",
    "LogisticRegression",
    "OutOfTimeWarning",
    "OutputError",
    "QuarantineWarning",
    "RunWarning",
    "Sampling",
    "SoftmaxRegression",
    "Target",
    "UsageError",
    "__version__",
    "estimate",
    "from_batched",
    "from_c",
    "from_jax",
    "from_stan",
    "read",
    "resume",
    "sample",
    "samplers",
    "summary",
    "targets",
    "to_inferencedata",
]
