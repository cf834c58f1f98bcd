#!/usr/bin/env python3
"""One JAX density, one process: kilochain.from_jax beside NumPyro's NUTS and BlackJAX's ChEES on a logistic regression.

    PYTHONPATH=build/release/python python3 bench/compare_python.py ../shared/data/german.csv [--chains 256] [--x64]

Everybody begins at N(0, I) with the same number of chains. Seconds are warm: warm-up and sampling of a second call with
another seed, without compilation; cold: the first. Ours ends by itself (10 000 effective draws), and once more with as
many draws as the peers. ESS: the smaller of the worst mean's and the worst square's, by one
estimator for all (split chains, Geyer's initial monotone sequence). One JSON line each. Needs jax, numpyro, blackjax.
"""
import argparse
import csv
import json
import os
import time

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("table", help="CSV: predictors, then a label of 0 and 1")
parser.add_argument("--chains", type=int, default=256)
parser.add_argument("--num-warmup", type=int, default=500, help="of the peers")
parser.add_argument("--num-samples", type=int, default=500, help="draws of a chain, of the peers")
parser.add_argument("--x64", action="store_true", help="double precision; JAX's default is single")
parser.add_argument("--only", help="kilochain, numpyro_nuts or blackjax_chees")
a = parser.parse_args()

import jax
import jax.numpy as jnp
import numpy as np

if a.x64:
    jax.config.update("jax_enable_x64", True)

with open(a.table, encoding="utf-8") as file:
    rows = np.array(list(csv.reader(file))[1:], dtype=float)
X = (rows[:, :-1] - rows[:, :-1].mean(0)) / rows[:, :-1].std(0, ddof=1)
X, y = jnp.asarray(np.hstack([X, np.ones((len(X), 1))])), jnp.asarray(rows[:, -1])
dim = X.shape[1]


def log_density(w):
    logits = X @ w
    return jnp.sum(y * logits - jax.nn.softplus(logits)) - 0.5 * jnp.sum(w * w)


def effective(draws):
    """(chains, draws, dim) -> the least effective number of draws of its coordinates."""
    chains, number, size = draws.shape
    half = number // 2
    out = []
    for k in range(size):
        z = draws[:, :2 * half, k].astype(float).reshape(2 * chains, half)
        means, within = z.mean(1), z.var(1, ddof=1).mean()
        plus = (half - 1) / half * within + means.var(ddof=1)
        spectrum = np.abs(np.fft.rfft(z - means[:, None], 2 * half, axis=1))**2
        autocovariance = np.fft.irfft(spectrum.mean(0), 2 * half)[:half] / half
        rho = 1 - (within - autocovariance * half / (half - 1)) / plus
        rho[0] = 1
        pairs = rho[:half // 2 * 2].reshape(-1, 2).sum(1)
        pairs = pairs[:np.argmax(pairs <= 0)] if (pairs <= 0).any() else pairs
        out.append(2 * chains * half / (2 * np.minimum.accumulate(pairs).sum() - 1))
    return min(out)


def kilochain_run(seed, draws="auto"):
    import kilochain
    if "model" not in kilochain_run.__dict__:
        kilochain_run.model = kilochain.from_jax(log_density, dim)
    tree = kilochain.sample(kilochain_run.model, chains=a.chains, draws=draws, seed=seed, progress=False)
    return np.asarray(tree["posterior"]["x"])


def kilochain_as_many_draws(seed):
    return kilochain_run(seed, a.num_samples)


def numpyro_nuts(seed):
    from numpyro.infer import MCMC, NUTS
    if not hasattr(numpyro_nuts, "mcmc"):
        numpyro_nuts.mcmc = MCMC(NUTS(potential_fn=lambda w: -log_density(w)), num_warmup=a.num_warmup,
                                 num_samples=a.num_samples, num_chains=a.chains, chain_method="vectorized", progress_bar=False)
    start = jax.random.normal(jax.random.PRNGKey(seed + 7), (a.chains, dim))
    numpyro_nuts.mcmc.run(jax.random.PRNGKey(seed), init_params=start)
    return np.asarray(numpyro_nuts.mcmc.get_samples(group_by_chain=True))


def blackjax_chees(seed):
    import blackjax
    import optax

    def whole(key, start):
        warm_key, key = jax.random.split(key)
        warm = blackjax.chees_adaptation(log_density, a.chains, adaptation_info_fn=lambda *_: None)
        (states, found), _ = warm.run(warm_key, start, 1e-2, optax.adam(0.02), a.num_warmup)
        step = jax.vmap(blackjax.dynamic_hmc(log_density, **found).step)

        def body(states, key):
            states, _ = step(jax.random.split(key, a.chains), states)
            return states, states.position

        return jnp.swapaxes(jax.lax.scan(body, states, jax.random.split(key, a.num_samples))[1], 0, 1)

    if not hasattr(blackjax_chees, "whole"):
        blackjax_chees.whole = jax.jit(whole)
    start = jax.random.normal(jax.random.PRNGKey(seed + 7), (a.chains, dim))
    return np.asarray(jax.block_until_ready(blackjax_chees.whole(jax.random.PRNGKey(seed), start)))


for run in (kilochain_run, kilochain_as_many_draws, numpyro_nuts, blackjax_chees):
    if a.only and a.only not in run.__name__:
        continue
    begun = time.perf_counter()
    run(1)
    cold = time.perf_counter() - begun
    begun = time.perf_counter()
    draws = run(2)
    warm = time.perf_counter() - begun
    ess = min(effective(draws), effective((draws - draws.mean((0, 1)))**2))
    print(json.dumps({"who": run.__name__, "table": os.path.basename(a.table), "chains": a.chains, "draws": draws.shape[1],
                      "seconds_cold": round(cold, 2), "seconds": round(warm, 3), "min_ess": round(ess),
                      "min_ess_per_second": round(ess / warm)}), flush=True)
