"""The C library from Python's ctypes: a density that is a Python function, its draws, and an error as text."""
import ctypes as c
import sys

k = c.CDLL(sys.argv[1])
double_p = c.POINTER(c.c_double)
density_type = c.CFUNCTYPE(c.c_int, c.c_size_t, double_p, double_p, double_p, c.c_void_p)
k.kilochain_create.restype = c.c_void_p
for name in ("version", "message", "name", "summary", "notes"):
    getattr(k, "kilochain_" + name).restype = c.c_char_p
for name in ("num_chains", "num_draws", "num_values"):
    getattr(k, "kilochain_" + name).restype = c.c_size_t
k.kilochain_draws.restype = double_p
k.kilochain_figure.restype = c.c_double


@density_type
def density(n, x, gradient, lp, user_data):
    lp[0] = -sum((x[i] - i) ** 2 for i in range(n)) / 2
    for i in range(n):
        gradient[i] = i - x[i]
    return 0


run = c.c_void_p(k.kilochain_create())
assert k.kilochain_set_density(run, density, c.c_size_t(2), None, None) == 0
for key, value in dict(num_chains="4", num_warmup="200", num_samples="300", sampler="nuts", adapt_scope="chain", threads="1").items():
    assert k.kilochain_set(run, key.encode(), value.encode()) == 0
status = k.kilochain_sample(run)
assert status == 0, k.kilochain_message(run)
assert (k.kilochain_num_chains(run), k.kilochain_num_draws(run), k.kilochain_num_values(run)) == (4, 300, 2)
for i in range(2):
    mean, error = (k.kilochain_figure(run, c.c_size_t(i), figure) for figure in (b"mean", b"mcse_mean"))
    assert abs(mean - i) < 5 * error, (i, mean, error)
assert abs(sum(k.kilochain_draws(run)[2 * j + 1] for j in range(1200)) / 1200 - mean) < 1e-9
k.kilochain_set(run, b"num_chains", b"none")
assert k.kilochain_sample(run) == 2 and b"num_chains" in k.kilochain_message(run), k.kilochain_message(run)
k.kilochain_free(run)
print("kilochain", k.kilochain_version().decode(), "from Python")
