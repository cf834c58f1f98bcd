"""What the rounding of each way of making matrix products does to a sampler: its acceptance and its posterior means.
usage: bench/matmul_effect.py DATA_FOLDER [--chains 64] [--iterations 400] [--only german,german:softmax]     (needs numpy; no GPU)
MALA with the Laplace approximation's factor on Bayesian logistic regression, or softmax regression with weights for each
class (NAME:softmax), every chain with the same random numbers in each way. Products are rounded as tensor cores round them: tf32 to 11 bits of both sides, bf16x3 in parts with sums in
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


def laplace(model):
    """The mode, and the Cholesky factor of the inverse of minus the Hessian there."""
    w = np.zeros(model.dim)
    for _ in range(100):
        gradient, hessian = model.derivatives(w)
        step = np.linalg.solve(hessian, gradient)
        w += step if np.abs(step).max() < 1 else step / np.abs(step).max()
        if np.abs(step).max() < 1e-9:
            break
    return w, np.linalg.cholesky(np.linalg.inv(hessian))


class Logistic:
    def __init__(self, x, y):
        self.x, self.sign, self.dim = x, 2 * y - 1, x.shape[1]

    def derivatives(self, w):
        u = self.sign * (self.x @ w)
        s = 1 / (1 + np.exp(np.clip(u, -500, 500)))
        return self.x.T @ (self.sign * s) - w, (self.x * (s * (1 - s))[:, None]).T @ self.x + np.eye(self.dim)

    def density(self, products, w):
        """(lp, gradient) at each chain's w: residuals in the way's precision, log densities summed in double."""
        u = self.sign[:, None].astype(np.float32 if products.way != "double" else float) * products(w)
        e = np.exp(-np.abs(u))
        residual = self.sign[:, None].astype(u.dtype) * np.where(u > 0, e, u.dtype.type(1)) / (1 + e)
        lp = (np.minimum(u, 0).astype(float) - np.log(1 + e).astype(float)).sum(0) - 0.5 * (w.astype(float) ** 2).sum(0)
        return lp, products(residual, True) - w


class Softmax:
    """Coordinates: class after class."""

    def __init__(self, x, y):
        self.x, self.y, self.classes = x, y.astype(int), int(y.max()) + 1
        self.dim = x.shape[1] * self.classes

    def derivatives(self, w):
        n, K = self.x.shape[1], self.classes
        t = self.x @ w.reshape(K, n).T
        q = np.exp(t - t.max(1, keepdims=True))
        q /= q.sum(1, keepdims=True)
        gradient = ((np.eye(K)[self.y] - q).T @ self.x).ravel() - w
        hessian = np.eye(self.dim)
        for k in range(K):
            for l in range(K):
                hessian[k * n:(k + 1) * n, l * n:(l + 1) * n] += (self.x * (q[:, k] * ((k == l) - q[:, l]))[:, None]).T @ self.x
        return gradient, hessian

    def density(self, products, w):
        n, K, C = self.x.shape[1], self.classes, w.shape[1]
        t = products(np.ascontiguousarray(w.reshape(K, n, C).transpose(1, 0, 2)).reshape(n, K * C)).reshape(-1, K, C)
        most = t.max(1, keepdims=True)
        e = np.exp(t - most)
        total = e.sum(1, keepdims=True)
        own = np.take_along_axis(t, self.y[:, None, None], 1)[:, 0]
        lp = (own.astype(float) - (most + np.log(total))[:, 0].astype(float)).sum(0) - 0.5 * (w.astype(float) ** 2).sum(0)
        residual = -e / total
        residual[np.arange(len(self.y)), self.y] += 1
        g = products(np.ascontiguousarray(residual.reshape(-1, K * C)), True).reshape(n, K, C).transpose(1, 0, 2)
        return lp, g.reshape(K * n, C) - w


def run(way, x, unit, model, mode, factor, scale, exact):
    real = float if way == "double" else np.float32
    products, rng = Products(way, x, unit), np.random.default_rng(7)
    n, C = model.dim, a.chains
    L = (scale * factor).astype(real)
    w = (mode[:, None] + factor @ rng.standard_normal((n, C))).astype(real)
    lp, g = model.density(products, w)
    accepted, kept, worst = 0.0, [], 0.0
    for t in range(a.iterations):
        eps, u = rng.standard_normal((n, C)).astype(real), rng.random(C)
        h = 0.5 * (L.T @ g) + eps
        y = w + L @ h
        lp_y, g_y = model.density(products, y)
        back = h + 0.5 * (L.T @ g_y)
        log_r = lp_y - lp - 0.5 * (back.astype(float) ** 2).sum(0) + 0.5 * (eps.astype(float) ** 2).sum(0)
        if exact is not None and t % 40 == 0:
            (e0, f0), (e1, f1) = model.density(exact, w.astype(float)), model.density(exact, y.astype(float))
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
    data, _, kind = name.partition(":")
    x, y, unit = mnist() if data == "mnist" else table(data)
    model = (Softmax if kind == "softmax" else Logistic)(x, y)
    mode, factor = laplace(model)
    scale = 1.3 * model.dim ** (-1 / 6)
    exact = Products("double", x, unit)
    base = None
    for way in ("double", "float32", "tf32", "bf16x3"):
        acceptance, mean, error, worst = run(way, x, unit, model, mode, factor, scale, None if way == "double" else exact)
        base = base or (mean, error)
        z = np.abs(mean - base[0]) / base[1]
        print(f"| {name} | {way} | {acceptance:.4f} | {'-' if way == 'double' else f'{worst:.2g}'} | {'-' if way == 'double' else f'{z.max():.2f}'} |", flush=True)
