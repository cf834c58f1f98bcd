#!/usr/bin/env python3
"""Models of NumPyro as people write them, with nothing said, beside NumPyro's own NUTS (4 chains of 1 000 + 1 000, one after the other).

  python3 bench/numpyro_models.py [MODEL ...] [--seconds 60] [--seed 1] [--peer nuts|none] [--output FILE]

Data are simulated, but for two classics. In double. Seconds are whole calls, with what JAX compiles; NUTS starts from a model that
NumPyro has not seen. Prints a line for each run and adds one of JSON to --output: status, seconds, the smallest effective sample
size (ours: of means and tails) and the largest R-hat. Needs the package `kilochain` and numpyro; PYTHONPATH=build/release/python
is enough.
"""
import argparse, json, time, warnings

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

jax.config.update("jax_enable_x64", True)
import kilochain

R = np.random.default_rng
MODELS = {}


def reg(f):
    """f() -> the model and its arguments."""
    MODELS[f.__name__] = f
    return f


y8, s8 = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
hits, ab = np.array([18, 17, 16, 15, 14, 14, 13, 12, 11, 11, 10, 10, 10, 10, 10, 9, 8, 7]), 45


@reg
def eight_centred():
    def m(s, y=None):
        mu = numpyro.sample("mu", dist.Normal(0, 5))
        tau = numpyro.sample("tau", dist.HalfCauchy(5))
        with numpyro.plate("J", 8):
            th = numpyro.sample("theta", dist.Normal(mu, tau))
            numpyro.sample("obs", dist.Normal(th, s), obs=y)

    return m, (s8, y8)


@reg
def regression():
    r = R(1)
    x = r.normal(size=(50, 2))
    y = x @ [0.5, -0.6] + 0.3 * r.normal(size=50)

    def m(x, y):
        a = numpyro.sample("a", dist.Normal(0, 0.2))
        b = numpyro.sample("b", dist.Normal(0, 0.5).expand([2]).to_event(1))
        s = numpyro.sample("sigma", dist.Exponential(1))
        numpyro.sample("obs", dist.Normal(a + x @ b, s), obs=y)

    return m, (x, y)


@reg
def batting_averages():
    def m(ab, h=None):
        loc = numpyro.sample("loc", dist.Normal(-1, 1))
        sc = numpyro.sample("scale", dist.HalfCauchy(1))
        with numpyro.plate("p", 18):
            al = numpyro.sample("alpha", dist.Normal(loc, sc))
            numpyro.sample("obs", dist.Binomial(ab, logits=al), obs=h)

    return m, (ab, hits)


@reg
def funnel():
    def m():
        y = numpyro.sample("y", dist.Normal(0, 3))
        numpyro.sample("x", dist.Normal(jnp.zeros(9), jnp.exp(y / 2)).to_event(1))

    return m, ()


@reg
def horseshoe():
    r = R(7)
    X = r.normal(size=(100, 20))
    y = X[:, :3] @ [3, -2, 1.5] + r.normal(size=100)

    def m(X, y):
        each = numpyro.sample("each", dist.HalfCauchy(jnp.ones(20)))
        shared = numpyro.sample("shared", dist.HalfCauchy(1.0))
        z = numpyro.sample("z", dist.Normal(jnp.zeros(20), 1.0))
        slopes = numpyro.deterministic("slopes", z * each * shared)
        noise = numpyro.sample("noise", dist.HalfNormal(2.0))
        numpyro.sample("y", dist.Normal(X @ slopes, noise), obs=y)

    return m, (X, y)


@reg
def ordinal():
    r = R(8)
    N = 200
    x = r.normal(size=N)
    lat = 1.2 * x + r.logistic(size=N)
    y = np.digitize(lat, [-2, -0.5, 1])

    def m(x, y):
        b = numpyro.sample("b", dist.Normal(0, 5))
        c = numpyro.sample(
            "c", dist.TransformedDistribution(dist.Normal(0, 1).expand([3]), dist.transforms.OrderedTransform())
        )
        numpyro.sample("y", dist.OrderedLogistic(b * x, c), obs=y)

    return m, (x, y)


@reg
def mixture():
    r = R(9)
    y = np.concatenate([r.normal(-2, 1, 60), r.normal(2, 0.7, 90), r.normal(6, 1, 50)])

    def m(y):
        w = numpyro.sample("w", dist.Dirichlet(jnp.ones(3)))
        mu = numpyro.sample("mu", dist.Normal(0, 10).expand([3]).to_event(1))
        s = numpyro.sample("s", dist.HalfNormal(3).expand([3]).to_event(1))
        with numpyro.plate("d", len(y)):
            numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(probs=w), dist.Normal(mu, s)), obs=y)

    return m, (y,)


@reg
def zero_inflated_counts():
    r = R(10)
    N = 250
    x = r.normal(size=(N, 2))
    y = np.where(r.random(N) < 0.4, 0, r.poisson(np.exp(0.5 + x @ [0.5, -0.4])))

    def m(x, y):
        b = numpyro.sample("b", dist.Normal(0, 2).expand([3]))
        g = numpyro.sample("gate", dist.Beta(1, 1))
        numpyro.sample("y", dist.ZeroInflatedPoisson(g, jnp.exp(b[0] + x @ b[1:])), obs=y)

    return m, (x, y)


@reg
def two_groups():
    r = R(11)
    a = 101.5 + 3 * r.standard_t(3, 47)
    b = 100.5 + 2 * r.standard_t(3, 42)
    y = np.concatenate([a, b])
    g = np.repeat([0, 1], [47, 42])

    def m(g, y):
        mu = numpyro.sample("mu", dist.Normal(y.mean(), y.std() * 2).expand([2]))
        s = numpyro.sample("s", dist.Uniform(0.1, 10).expand([2]))
        nu = numpyro.sample("nu", dist.Exponential(1 / 29.0))
        numpyro.deterministic("diff", mu[0] - mu[1])
        numpyro.sample("y", dist.StudentT(nu + 1, mu[g], s[g]), obs=y)

    return m, (g, y)


@reg
def survival():
    r = R(12)
    N = 200
    x = r.normal(size=N)
    t = r.weibull(1.5, N) * np.exp(0.5 - 0.7 * x)
    c = r.exponential(3, N)
    d = t <= c
    t = np.minimum(t, c)

    def m(x, t, d):
        k = numpyro.sample("k", dist.Gamma(1, 1))
        a = numpyro.sample("a", dist.Normal(0, 10))
        b = numpyro.sample("b", dist.Normal(0, 10))
        sc = jnp.exp(a + b * x)
        z = (t / sc) ** k
        numpyro.factor("lp", jnp.sum(jnp.where(d, jnp.log(k) - jnp.log(sc) + (k - 1) * jnp.log(t / sc), 0.0) - z))

    return m, (x, t, d)


@reg
def covariance():
    r = R(13)
    L = np.linalg.cholesky(0.5 * np.eye(6) + 0.5)
    y = r.normal(size=(120, 6)) @ L.T * np.arange(1, 7)

    def m(y):
        th = numpyro.sample("theta", dist.HalfCauchy(jnp.ones(6)).to_event(1))
        L = numpyro.sample("L", dist.LKJCholesky(6, 1.0))
        mu = numpyro.sample("mu", dist.Normal(0, 10).expand([6]).to_event(1))
        with numpyro.plate("o", len(y)):
            numpyro.sample("y", dist.MultivariateNormal(mu, scale_tril=th[..., None] * L), obs=y)

    return m, (y,)


@reg
def discriminations():
    r = R(14)
    I, J = 20, 150
    th = r.normal(size=J)
    a = np.exp(0.3 * r.normal(size=I))
    b = r.normal(size=I)
    y = r.random((J, I)) < 1 / (1 + np.exp(-a * (th[:, None] - b)))

    def m(y):
        with numpyro.plate("item", I):
            a = numpyro.sample("a", dist.LogNormal(0, 0.5))
            b = numpyro.sample("b", dist.Normal(0, 2))
        with numpyro.plate("person", J):
            t = numpyro.sample("t", dist.Normal(0, 1))
        numpyro.sample("y", dist.Bernoulli(logits=a * (t[:, None] - b)).to_event(2), obs=y.astype(float))

    return m, (y,)


@reg
def annotators():
    r = R(15)
    I, J, K = 60, 5, 3
    z = r.integers(0, K, I)
    conf = np.stack([0.7 * np.eye(K) + 0.1] * J)
    y = np.array([[r.choice(K, p=conf[j, z[i]]) for j in range(J)] for i in range(I)])

    def m(y):
        pi = numpyro.sample("pi", dist.Dirichlet(jnp.ones(K)))
        with numpyro.plate("cls", K, dim=-1):
            with numpyro.plate("ann", J, dim=-2):
                beta = numpyro.sample("beta", dist.Dirichlet(jnp.ones(K)))
        lp = jnp.log(pi)[None] + jnp.log(beta[jnp.arange(J)[None, :], :, y]).sum(1)
        numpyro.factor("l", jax.scipy.special.logsumexp(lp, axis=1).sum())

    return m, (y,)


@reg
def local_trend():
    r = R(16)
    T = 120
    lv = np.cumsum(0.3 * r.normal(size=T) + np.cumsum(0.05 * r.normal(size=T)))
    y = lv + 0.5 * r.normal(size=T)

    def m(y):
        sl = numpyro.sample("s_level", dist.HalfNormal(1))
        ss = numpyro.sample("s_slope", dist.HalfNormal(1))
        so = numpyro.sample("s_obs", dist.HalfNormal(1))
        l0 = numpyro.sample("l0", dist.Normal(0, 5))
        d0 = numpyro.sample("d0", dist.Normal(0, 1))
        zl = numpyro.sample("zl", dist.Normal(0, 1).expand([T]).to_event(1))
        zs = numpyro.sample("zs", dist.Normal(0, 1).expand([T]).to_event(1))
        sl_ = d0 + jnp.cumsum(ss * zs)
        lv = l0 + jnp.cumsum(sl_ + sl * zl)
        numpyro.sample("y", dist.Normal(lv, so), obs=y)

    return m, (y,)


@reg
def ar2():
    r = R(17)
    y = np.zeros(200)
    for t in range(2, 200):
        y[t] = 0.6 * y[t - 1] + 0.2 * y[t - 2] + r.normal()

    def m(y):
        c = numpyro.sample("c", dist.Normal(0, 1))
        a = numpyro.sample("a", dist.Normal(0, 1).expand([2]))
        s = numpyro.sample("s", dist.HalfNormal(1))
        numpyro.sample("y", dist.Normal(c + a[0] * y[1:-1] + a[1] * y[:-2], s), obs=y[2:])

    return m, (y,)


@reg
def poisson_crossed():
    r = R(18)
    N, A, B = 600, 30, 20
    i = r.integers(0, A, N)
    j = r.integers(0, B, N)
    x = r.normal(size=N)
    y = r.poisson(np.exp(0.5 + 0.7 * r.normal(size=A)[i] + 0.4 * r.normal(size=B)[j] + 0.3 * x))

    def m(i, j, x, y):
        a0 = numpyro.sample("a0", dist.Normal(0, 2))
        b = numpyro.sample("b", dist.Normal(0, 1))
        sA = numpyro.sample("sA", dist.HalfNormal(1))
        sB = numpyro.sample("sB", dist.HalfNormal(1))
        with numpyro.plate("A", A):
            ua = numpyro.sample("ua", dist.Normal(0, sA))
        with numpyro.plate("B", B):
            ub = numpyro.sample("ub", dist.Normal(0, sB))
        numpyro.sample("y", dist.Poisson(jnp.exp(a0 + b * x + ua[i] + ub[j])), obs=y)

    return m, (i, j, x, y)


@reg
def smooth_by_sines():
    r = R(19)
    n = 150
    x = np.sort(r.uniform(-1, 1, n))
    y = np.sin(5 * x) + 0.2 * r.normal(size=n)
    mm = 20
    Lb = 1.5
    lam = (np.pi * np.arange(1, mm + 1) / (2 * Lb)) ** 2
    phi = np.sqrt(1 / Lb) * np.sin(np.sqrt(lam) * (x[:, None] + Lb))

    def m(phi, y):
        a = numpyro.sample("alpha", dist.HalfNormal(1))
        l = numpyro.sample("ell", dist.InverseGamma(5, 2))
        s = numpyro.sample("sigma", dist.HalfNormal(1))
        sp = a * jnp.sqrt(jnp.sqrt(2 * jnp.pi) * l) * jnp.exp(-0.25 * l**2 * lam)
        with numpyro.plate("basis", mm):
            b = numpyro.sample("b", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(phi @ (sp * b), s), obs=y)

    return m, (phi, y)


@reg
def one_factor():
    r = R(20)
    N, P = 150, 6
    lam = np.array([1, 0.8, 0.7, 0.9, 0.6, 1.1])
    f = r.normal(size=N)
    y = f[:, None] * lam + 0.5 * r.normal(size=(N, P))

    def m(y):
        l = numpyro.sample("load", dist.Normal(0, 1).expand([P]).to_event(1))
        s = numpyro.sample("s", dist.HalfNormal(1).expand([P]).to_event(1))
        with numpyro.plate("n", N):
            f = numpyro.sample("f", dist.Normal(0, 1))
        numpyro.sample("y", dist.Normal(f[:, None] * l, s).to_event(2), obs=y)

    return m, (y,)



def ours(name, a):
    model, args = MODELS[name]()
    begin = time.perf_counter()
    tree = kilochain.sample(kilochain.from_numpyro(model, *args), max_seconds=a.seconds, seed=a.seed, progress=False)
    seconds, figures = time.perf_counter() - begin, kilochain.summary(tree)
    least = float(figures[["ess_bulk", "ess_tail"]].min().min()) if len(figures) else 0.0
    return dict(sampler="default", status=tree.attrs["status"], seconds=round(seconds, 2), ess=least,
                rhat=tree.attrs.get("rhat_max"), chains=tree.attrs["num_chains"], reason=tree.attrs["reason"])


def nuts(name, a):
    model, args = MODELS[name]()
    begin = time.perf_counter()
    mcmc = numpyro.infer.MCMC(numpyro.infer.NUTS(model), num_warmup=1000, num_samples=1000, num_chains=4,
                              chain_method="sequential", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(a.seed), *args)
    draws = jax.block_until_ready(mcmc.get_samples(True))
    seconds, figures = time.perf_counter() - begin, numpyro.diagnostics.summary(draws).values()
    return dict(sampler="nuts", seconds=round(seconds, 2), ess=float(min(np.nanmin(f["n_eff"]) for f in figures)),
                rhat=float(max(np.nanmax(f["r_hat"]) for f in figures)))


def main():
    p = argparse.ArgumentParser(formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__)
    p.add_argument("wanted", nargs="*", metavar="MODEL", choices=[[], *MODELS], help="without any all")
    p.add_argument("--seconds", type=int, default=60, help="limit of ours")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--peer", choices=["nuts", "none"], default="nuts")
    p.add_argument("--output", help="a file to which JSON is added")
    a = p.parse_args()
    warnings.simplefilter("ignore")  # what does not converge is told by its status
    for name in a.wanted or MODELS:
        for run in (ours, nuts)[: 2 if a.peer == "nuts" else 1]:
            found = dict(model=name, seed=a.seed, **run(name, a))
            print(f"{name:22}{found['sampler']:>9}{found['seconds']:8.1f} s   ESS {found['ess']:7.0f}   R-hat {found['rhat'] or np.nan:.3f}   "
                  f"{found.get('reason', '')}", flush=True)
            if a.output:
                with open(a.output, "a") as out:
                    out.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
