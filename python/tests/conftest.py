import numpy as np
import pytest


@pytest.fixture
def gaussian():
    """x[i] ~ N(i, 1) in three dimensions, as f(x) -> (lp, gradient), and what it was called with."""

    def f(x):
        f.calls += 1
        f.most = max(f.most, len(x))
        z = x - np.arange(x.shape[1])
        return -(z * z).sum(axis=1) / 2, -z

    f.calls = f.most = 0
    return f


SHORT = dict(chains=8, warmup=200, draws=300, sampler="nuts", adapt_scope="chain", progress=False)


def means_agree(tree, variable, means):
    """Every mean within 4.5 of its Monte Carlo errors: a false alarm once in 150 000 figures."""
    import kilochain

    figures = kilochain.summary(tree)
    rows = [n for n in figures.index if n.split("[")[0] == variable]
    for name, mean in zip(rows, means, strict=True):
        assert abs(figures["mean"][name] - mean) < 4.5 * figures["mcse_mean"][name], name
