"""What the rounding of each way of making matrix products does to a sampler: its acceptance and its posterior means.
usage: bench/matmul_effect.py DATA_FOLDER [--chains 64] [--iterations 400]     (needs numpy; no GPU)
MALA with the Laplace approximation's factor on Bayesian logistic regression, every chain with the same random numbers in
each way. Products are rounded as tensor cores round them: tf32 to 11 bits of both sides, bf16x3 in parts with sums in
float. Prints a row for each data set and way: acceptance, the largest error of a log ratio that decides a move, and the largest
difference of a posterior mean from the double run's, in Monte Carlo standard errors of that run."""
import argparse, gzip, os, sys
import numpy as np

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data")
p.add_argument("--chains", type=int, default=64)
p.add_argument("--iterations", type=int, default=400)
p.add_argument("--only", default="german,caravan,mnist")
a = p.parse_args()


def table(name):
    rows = np.genfromtxt(os.path.join(a.data, name + ".csv"), delimiter=",", skip_header=1)
    x, y = rows[:, :-1], rows[:, -1]
    x = (x - x.mean(0)) / x.std(0, ddof=1)
    return np.hstack([x, np.ones((len(x), 1))]), y, 0.0


def mnist():
    def idx(name, head):
        return np.frombuffer(gzip.open(os.path.join(a.data, name)).read(), np.uint8)[head:]
    labels = idx("mnist56-labels-idx1-ubyte.gz", 8)
    x = idx("mnist56-images-idx3-ubyte.gz", 16).reshape(len(labels), -1) / 255
    return np.hstack([x, np.ones((len(x), 1))]), (labels == 5).astype(float), 1 / 255


def bits_off(v, dropped):
    b = np.ascontiguousarray(v, np.float32).view(np.uint32)
    b = (b + np.uint32((1 << (dropped - 1)) - 1) + ((b >> np.uint32(dropped)) & np.uint32(1))) & np.uint32(0xFFFFFFFF ^ ((1 << dropped) - 1))
    return b.view(np.float32)


def parts(v, dropped, count):
    out, v = [], np.asarray(v, np.float32)
    for _ in range(count):
        out.append(bits_off(v, dropped))
        v = v - out[-1]
    return out


class Products:
    """x w and x.T r in one way; w: (n, chains), r: (observations, chains)."""

    def __init__(self, way, x, unit):
        self.way, self.unit = way, np.float32(unit)
        if way == "double":
            self.x = x
        elif way == "float32":
            self.x = x.astype(np.float32)
        elif way == "tf32":
            self.x = bits_off(x, 13)
        elif unit:
            self.x = np.rint(x / unit).astype(np.float32)
        else:
            self.high, self.low = parts(x, 13, 2)

    def __call__(self, v, transposed=False):
        if self.way == "bf16x3" and not self.unit:
            high, low = (self.high.T, self.low.T) if transposed else (self.high, self.low)
            vh, vl = parts(v, 13, 2)
            return low @ vh + high @ vl + high @ vh
        x = self.x.T if transposed else self.x
        if self.way == "double":
            return x @ v
        if self.way == "float32":
            return x @ v.astype(np.float32)
        if self.way == "tf32":
            return x @ bits_off(v, 13)
        return self.unit * sum(x @ part for part in reversed(parts(v, 16, 3)))


def laplace(x, sign):
    """The mode, and the Cholesky factor of the inverse of minus the Hessian there."""
    w = np.zeros(x.shape[1])
    for _ in range(100):
        u = sign * (x @ w)
        s = 1 / (1 + np.exp(np.clip(u, -500, 500)))
        hessian = (x * (s * (1 - s))[:, None]).T @ x + np.eye(x.shape[1])
        step = np.linalg.solve(hessian, x.T @ (sign * s) - w)
        w += step if np.abs(step).max() < 1 else step / np.abs(step).max()
        if np.abs(step).max() < 1e-9:
            break
    return w, np.linalg.cholesky(np.linalg.inv(hessian))


def density(products, sign, w):
    """(lp, gradient) at each chain's w: residuals in the way's precision, log densities summed in double."""
    u = sign[:, None].astype(np.float32 if products.way != "double" else float) * products(w)
    e = np.exp(-np.abs(u))
    residual = sign[:, None].astype(u.dtype) * np.where(u > 0, e, u.dtype.type(1)) / (1 + e)
    lp = (np.minimum(u, 0).astype(float) - np.log(1 + e).astype(float)).sum(0) - 0.5 * (w.astype(float) ** 2).sum(0)
    return lp, products(residual, True) - w


def run(way, x, unit, sign, mode, factor, scale, exact):
    real = float if way == "double" else np.float32
    products, rng = Products(way, x, unit), np.random.default_rng(7)
    n, C = x.shape[1], a.chains
    L = (scale * factor).astype(real)
    w = (mode[:, None] + factor @ rng.standard_normal((n, C))).astype(real)
    lp, g = density(products, sign, w)
    accepted, kept, worst = 0.0, [], 0.0
    for t in range(a.iterations):
        eps, u = rng.standard_normal((n, C)).astype(real), rng.random(C)
        h = 0.5 * (L.T @ g) + eps
        y = w + L @ h
        lp_y, g_y = density(products, sign, y)
        back = h + 0.5 * (L.T @ g_y)
        log_r = lp_y - lp - 0.5 * (back.astype(float) ** 2).sum(0) + 0.5 * (eps.astype(float) ** 2).sum(0)
        if exact is not None and t % 40 == 0:
            (e0, f0), (e1, f1) = density(exact, sign, w.astype(float)), density(exact, sign, y.astype(float))
            Ld = scale * factor
            true = e1 - e0 - 0.5 * ((0.5 * Ld.T @ f0 + eps + 0.5 * Ld.T @ f1) ** 2).sum(0) + 0.5 * (eps.astype(float) ** 2).sum(0)
            worst = max(worst, np.abs(true - log_r)[np.minimum(true, log_r) > -10].max(initial=0))
        move = np.log(u) < log_r
        accepted += np.minimum(1, np.exp(np.minimum(log_r, 0))).mean() / a.iterations
        w, lp, g = np.where(move, y, w), np.where(move, lp_y, lp), np.where(move, g_y, g)
        kept.append(w.astype(float))
    draws = np.array(kept)  # (iteration, n, chain)
    chain_means = draws.mean(0)
    return accepted, chain_means.mean(1), chain_means.std(1, ddof=1) / np.sqrt(C), worst


print(f"{a.chains} chains, {a.iterations} iterations from draws of the Laplace approximation")
print("| data | way | acceptance | largest error of log r | largest difference of a mean, standard errors |\n|---|---|---:|---:|---:|")
for name in a.only.split(","):
    x, y, unit = mnist() if name == "mnist" else table(name)
    sign = 2 * y - 1
    mode, factor = laplace(x, sign)
    scale = 1.3 * x.shape[1] ** (-1 / 6)
    exact = Products("double", x, unit)
    base = None
    for way in ("double", "float32", "tf32", "bf16x3"):
        acceptance, mean, error, worst = run(way, x, unit, sign, mode, factor, scale, None if way == "double" else exact)
        base = base or (mean, error)
        z = np.abs(mean - base[0]) / base[1]
        print(f"| {name} | {way} | {acceptance:.4f} | {'-' if way == 'double' else f'{worst:.2g}'} | {'-' if way == 'double' else f'{z.max():.2f}'} |", flush=True)
