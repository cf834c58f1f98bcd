"""Draws of a file beside a known answer: |z| of means and mean squares, the smallest effective size. numpy and h5py."""
import json

import h5py
import numpy as np

STATUS = {0: "done", 2: "usage", 3: "data", 4: "quarantined", 6: "not converged", 9: "out of time", 130: "interrupted"}


def ess(x):
    """Effective draws of (chain, draw), by Geyer's initial monotone sequence over all chains' mean autocovariance."""
    chains, n = x.shape
    centred = x - x.mean(axis=1, keepdims=True)
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    cov = np.zeros(n)
    for row in centred:
        f = np.fft.rfft(row, size)
        cov += np.fft.irfft(f * np.conj(f), size)[:n] / n
    cov /= chains
    within = cov[0] * n / (n - 1)
    total = within * (n - 1) / n + (x.mean(axis=1).var(ddof=1) if chains > 1 else 0)
    if not total > 0:
        return np.nan
    rho = 1 - (within - cov * n / (n - 1)) / total
    pairs, least = -1.0, np.inf
    for k in range(0, n - 1, 2):
        pair = (1 if k == 0 else rho[k]) + rho[k + 1]
        if pair < 0:
            break
        least = min(least, pair)
        pairs += 2 * least
    return chains * n / max(pairs, 1 / np.log10(chains * n))


def draws_of(path):
    """Names and (value, chain, draw) of a file of draws."""
    with h5py.File(path, "r") as file:
        group = file["posterior"]
        text = lambda v: v.decode() if isinstance(v, bytes) else str(v)
        names = [text(n) for n in file["parameter"][:]]
        listed = json.loads(text(np.ravel(group.attrs["variables"])[0]))
        written = int(np.ravel(file["draws_written"][()])[0])
        kept, parts, at = [], [], 0
        for variable in listed:
            size = max(1, int(np.prod(variable[1:])))
            if variable[0] in group:  # not what observations say: log_likelihood, predictions
                x = group[variable[0]][:, :written]
                parts.append(x.reshape(x.shape[0], x.shape[1], -1))
                kept += names[at:at + size]
            at += size
    x = np.concatenate(parts, axis=2)
    return kept, np.moveaxis(x, 2, 0).astype(float)


def score(path, reference, seconds):
    names, x = draws_of(path)
    wanted = reference["parameters"] if reference else names
    z, least, worst = 0.0, np.inf, ""
    for k, name in enumerate(wanted):
        y = x[names.index(name)]
        y = y[~np.isnan(y).any(axis=1)]  # chains that were quarantined
        if not len(y) or not y.std() > 1e-12 * abs(y).max():
            continue
        for v, mean in ((y, "mean"), (y * y, "mean_sq")):
            e = ess(v if mean == "mean" else (y - y.mean()) ** 2)
            if e < least:
                least, worst = e, name
            if reference:
                error = np.hypot(v.std() / np.sqrt(ess(v)), reference["mcse_" + mean][k])
                z = max(z, abs(v.mean() - reference[mean][k]) / error)
    return dict(chains=x.shape[1], samples=x.shape[2], min_ess=round(float(least), 1), worst=worst,
                min_ess_per_second=round(float(least / seconds), 2), z_max=round(float(z), 2) if reference else None)
