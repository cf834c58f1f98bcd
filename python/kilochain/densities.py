"""Densities of the caller's: functions of Python and C, Stan programs, functions of JAX and torch, models of PyMC and
NumPyro."""

import collections.abc
import ctypes
import importlib.util
import json
import os

import numpy as np

from kilochain import _core
from kilochain.described import with_settings
from kilochain.targets import Target, _number


def _own(density, name):
    target = Target(name)
    target._density = density
    return target


def from_batched(f, dim, names=None, constrain=None, device="cpu") -> Target:
    """A density of many points in one call.

    f(x) -> (lp, gradient): x is (chains, dim), float64 and read-only, and its memory is valid in the call alone; lp is
    (chains), gradient (chains, dim). It is called once a round for all chains that ask, by one thread at a time, and
    with no more points than the run has chains, or 64. A point whose lp is not finite is a rejected proposal. What f
    raises ends the run and is raised again, with the draws until then in its attribute `partial`. All coordinates are
    real; names: one for each. constrain(x) -> {name: values} makes what is recorded of draws, x (chains, draws, dim) to
    arrays (chains, draws, ...); without it the coordinates are.

    device="cuda": f(x, lp, gradient) is given three arrays of double on the run's device (`DeviceArray`: torch, JAX,
    CuPy, numba.cuda and Warp take them without a copy). It writes lp and gradient, by work that it queues on x.stream,
    and returns None; or it returns (lp, gradient), arrays of its own on that device, which are copied there.

    >>> model = kilochain.from_batched(lambda x: (-(x * x).sum(axis=1) / 2, -x), 3, names=["a", "b", "c"])
    >>> kilochain.sample(model, chains=64, progress=False)["posterior"]["x"].coords["x_dim_0"].values.tolist()
    ['a', 'b', 'c']
    """
    dim = int(dim)
    if device != "cpu":
        return _on_device(f, dim, names, constrain)

    def checked(x):
        lp, gradient = f(x)
        lp, gradient = np.ascontiguousarray(lp, np.float64), np.ascontiguousarray(gradient, np.float64)
        if lp.shape != x.shape[:1] or gradient.shape != x.shape:
            raise ValueError(
                f"the density's answer has another shape (lp {lp.shape}, gradient {gradient.shape}, for x "
                f"{x.shape}). Does it return lp (chains) and the gradient (chains, dim)?"
            )
        return lp, gradient

    name = f"density {next(_number)}"
    target = _own(_core.Density(name, checked, dim, list(names or [])), name)
    target.constrain = constrain
    return target


class DeviceArray:
    """An array of double in the memory of a CUDA device, valid in one call: for whatever takes DLPack, as
    torch.from_dlpack(x) and jax.dlpack.from_dlpack(x) do, or the CUDA array interface (version 3), as
    cupy.asarray(x) does. stream: the run's, an address. A taker's own stream waits for it; work that writes is queued on
    it: `with torch.cuda.stream(torch.cuda.ExternalStream(x.stream)): ...`."""

    def __init__(self, address, shape, stream, read_only=False):
        self.shape, self.stream = shape, stream or 1  # 1 is the device's default stream, in both protocols
        self._address, self._array = address, _core.device_array(address, shape)
        self.__cuda_array_interface__ = dict(
            shape=shape, typestr="<f8", data=(address, read_only), strides=None, stream=self.stream, version=3
        )

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **how):
        if stream != -1 and (stream or 1) != self.stream:  # -1: the taker wants no order
            _core.order_streams(self.stream, stream or 1)
        return self._array.__dlpack__(**how)

    def _copy(self, answer, name):
        """Queues a copy of it. What computes the answer on another stream is waited for by this one."""
        _core.copy_to_device(
            answer.__dlpack__(stream=self.stream), self._address, self.shape, self.stream, f"{name} for {self.shape}"
        )


_size, _address = ctypes.c_size_t, ctypes.c_void_p
_OF_DEVICE = ctypes.CFUNCTYPE(
    ctypes.c_int, _size, _size, _address, _size, _address, _address, _address, _address
)  # kilochain_density_on_device


def _on_device(f, dim, names, constrain):
    """The run calls it as a C function of device pointers; rows are dense. What f raises is kept for the run."""
    answers = []  # the last one's memory is given back after the next call has waited for its copy

    def call(chains, n, x, row, gradient, lp, stream, user_data):
        if target._raised:
            return 1
        try:
            to_lp, to_gradient = DeviceArray(lp, (chains,), stream), DeviceArray(gradient, (chains, n), stream)
            answer = f(DeviceArray(x, (chains, n), stream, read_only=True), to_lp, to_gradient)
            if answer is not None:
                to_lp._copy(answer[0], "lp")
                to_gradient._copy(answer[1], "the gradient")
            answers[:] = [answer]
            return 0
        except BaseException as error:
            target._raised.append(error)
            return 1

    c_function = _OF_DEVICE(call)
    target = from_c(ctypes.cast(c_function, _address).value, dim, names=names, batched="on_device")
    target._kept.append(c_function)
    target.constrain = constrain
    return target


def from_c(address, dim, user_data=0, names=None, batched=False) -> Target:
    """A C function by its address (of numba's cfunc, ctypes, cffi), with the signature that kilochain/c.h calls
    kilochain_density, or kilochain_density_of_chains when batched; batched="on_device" is kilochain_density_on_device,
    whose points are in the memory of a CUDA device. Threads call it side by side, without Python's lock. What it needs
    must live as long as the target: keep it.

    >>> import ctypes
    >>> doubles = ctypes.POINTER(ctypes.c_double)
    >>> @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, doubles, doubles, doubles, ctypes.c_void_p)
    ... def density(n, x, gradient, lp, user_data):
    ...     lp[0], gradient[0] = -x[0] * x[0] / 2, -x[0]
    ...     return 0
    >>> model = kilochain.from_c(ctypes.cast(density, ctypes.c_void_p).value, 1)
    >>> tree = kilochain.sample(model, chains=4, warmup=100, draws=100, sampler="nuts", progress=False)
    """
    name = f"density {next(_number)}"
    kind = batched if isinstance(batched, str) else "chains" if batched else "one"
    return _own(_core.Density(name, int(address), int(user_data), kind, int(dim), list(names or [])), name)


def from_stan(model, data=None, **settings) -> Target:
    """A Stan program, unchanged. model: a path, of a .stan file or of a library made of one, or the program's text;
    data: a mapping, JSON text or a path. Needs a C++ compiler, and stanc and Stan's headers: those of STAN_HOME, of the
    package's extra `stan` or of docs/stan.md. Parameters, transformed parameters and generated quantities are recorded.

    >>> model = kilochain.from_stan("parameters { vector[2] x; } model { x ~ normal(0, 1); }")
    >>> kilochain.sample(model, chains=64, progress=False)["posterior"]["x"].sizes["x_dim_0"]
    2

    {settings}
    """
    if "STAN_HOME" not in os.environ and (found := importlib.util.find_spec("httpstan")):
        os.environ["STAN_HOME"] = os.path.dirname(str(found.origin))
    if "{" in str(model):
        model = _stan_file(model)
    target = Target("stan", model=os.fspath(model), **settings)
    if data is not None:
        if not isinstance(data, (str, os.PathLike)):
            data = json.dumps(data, default=lambda v: np.asarray(v).tolist())
        text = os.fspath(data)
        target.settings["data"] = target._keep("data", text.encode()) if "{" in text else text
    return target


def _stan_file(text):
    """A program's text as a file, under the name that this text always has."""
    import hashlib
    import tempfile

    path = os.path.join(tempfile.gettempdir(), f"kilochain-{hashlib.sha256(text.encode()).hexdigest()[:16]}.stan")
    with open(path, "w") as out:
        out.write(text)
    return path


def _give_jax_threads():
    """jaxlib 0.10's Cholesky factors, triangular solutions and Fourier transforms of many points hold a thread of its pool
    until other threads have done their part. With one for each of a few cores all can wait for ever. The pool's size is
    read when JAX first computes; where it has, nothing changes."""
    cores = len(os.sched_getaffinity(0))
    if cores <= 8:
        os.environ.setdefault("NPROC", str(2 * cores))


def _compiled_sizes(x, xp):
    """The points (n, dim) in one part or two of 16, 64, 256, ..., the last one filled up: JAX compiles for each number of
    points, for a second or more, and what fills up is cheap."""
    size = 16
    while len(x) > 2 * size:
        size *= 4
    for first in range(0, len(x), size):
        part = x[first : first + size]
        missing = size - len(part)
        yield xp.concatenate([part, xp.broadcast_to(x[0], (missing, x.shape[1]))]) if missing else part


def from_jax(logp, dim, names=None, constrain=None, device="cpu") -> Target:
    """A density written for JAX: logp(x) of one point is a number. Gradients and many points at once are made of it
    (value_and_grad, vmap, jit), in double where JAX has it enabled (jax_enable_x64), else in single precision. dim: a
    number, where x is (dim); or an example of x, an array or a mapping of names to arrays, whose shapes count.
    device="cuda": for runs there, where JAX has the same device; points and answers stay on it, in double.

    >>> import jax
    >>> model = kilochain.from_jax(lambda x: -(x["a"] ** 2).sum() / 2 - x["b"] ** 2, {"a": np.zeros(3), "b": 0.0})
    >>> kilochain.sample(model, chains=64, progress=False)["posterior"]["a"].dims
    ('chain', 'draw', 'a_dim_0')
    """
    _give_jax_threads()
    import jax

    dim, point, recorded, own_names = _layout(dim)
    of_chains = jax.jit(jax.vmap(jax.value_and_grad(lambda x: logp(point(x)))))

    def f(x, *places_on_device):
        xp = jax.numpy if places_on_device else np
        x = jax.dlpack.from_dlpack(x) if places_on_device else x
        # On a CPU each part is waited for before the next: two at once can wait for each other in JAX's pool.
        parts = [tuple(map(xp.asarray, of_chains(part))) for part in _compiled_sizes(x, xp)]
        lp, gradient = zip(*parts)
        return xp.concatenate(lp)[: len(x)], xp.concatenate(gradient)[: len(x)]

    return from_batched(f, dim, names or own_names, _constrained(recorded, constrain), device)


def from_torch(logp, dim, names=None, constrain=None, device="cpu") -> Target:
    """The same for PyTorch, 2.0 or newer: torch.func's vmap and grad_and_value, in double. What logp does must be what
    vmap can batch. device="cuda": on the run's own stream, where it waits for nothing.

    >>> import torch
    >>> model = kilochain.from_torch(lambda x: -(x**2).sum() / 2, 3)
    >>> kilochain.sample(model, chains=64, progress=False)["posterior"]["x"].dims
    ('chain', 'draw', 'x_dim_0')
    """
    import torch
    from torch.func import grad_and_value, vmap

    dim, point, recorded, own_names = _layout(dim)
    of_chains = vmap(grad_and_value(lambda x: logp(point(x))))

    def f(x):
        gradient, lp = of_chains(torch.from_numpy(np.array(x)))  # a copy: tensors cannot be read-only
        return lp.detach().numpy(), gradient.detach().numpy()

    def on_device(x, lp, gradient):
        with torch.cuda.stream(torch.cuda.ExternalStream(x.stream)):
            slopes, values = of_chains(torch.from_dlpack(x))
            return values.detach(), slopes.detach().contiguous()

    return from_batched(f if device == "cpu" else on_device, dim, names or own_names, _constrained(recorded, constrain), device)


def _layout(example):
    """How many coordinates a point like the example has, what makes such a point of one row of them, what makes arrays
    (chains, draws, ...) by their names of draws, and the coordinates' names; None where the coordinates are the point."""
    if isinstance(example, (int, np.integer)):
        return int(example), lambda x: x, None, None
    named = isinstance(example, collections.abc.Mapping)
    parts, dim = {}, 0
    for name, part in example.items() if named else [("x", example)]:
        parts[name] = (dim, dim + int(np.size(part)), np.shape(part))
        dim = parts[name][1]

    def point(x):
        own = {name: x[begin:end].reshape(shape) for name, (begin, end, shape) in parts.items()}
        return own if named else own["x"]

    def recorded(x):
        return {name: x[..., begin:end].reshape(*x.shape[:2], *shape) for name, (begin, end, shape) in parts.items()}

    names = [
        name + (f"[{','.join(map(str, at))}]" if shape else "")
        for name, (_, _, shape) in parts.items()
        for at in np.ndindex(*shape)
    ]
    return dim, point, recorded, names


def _constrained(recorded, constrain):
    """What is recorded: constrain takes what `recorded` makes of draws, by names."""
    if recorded is None or constrain is None:
        return constrain or recorded
    return lambda x: constrain(recorded(x))


def from_pymc(model, **options) -> Target:
    """A PyMC model, through the function that nutpie compiles of it (numba, in double, on the CPU; called by threads
    side by side, without Python's lock). Free variables and deterministics are recorded, with the model's names, shapes,
    dims and coords. options: of nutpie.compile_pymc_model. Needs pymc and nutpie; variables must be continuous.

    >>> import nutpie, pymc
    >>> with pymc.Model() as model:
    ...     sd = pymc.HalfNormal("sd")
    >>> list(kilochain.sample(kilochain.from_pymc(model), chains=64, progress=False)["posterior"].data_vars)
    ['sd']
    """
    import nutpie

    compiled = nutpie.compile_pymc_model(model, backend="numba", **options)
    data, names = compiled.user_data.ctypes.data, [str(n) for n in compiled.coords["unconstrained_parameter"]]
    target = from_c(compiled.compiled_logp_func.address, compiled.n_dim, data, names)
    hidden = {value.name for value in model.value_vars} - {rv.name for rv in model.free_RVs}
    variables = [v for v in zip(*compiled.shape_info) if v[0] not in hidden]
    size, pointer = ctypes.c_uint64, ctypes.c_void_p
    expand = ctypes.CFUNCTYPE(ctypes.c_int64, size, size, pointer, pointer, pointer)(
        compiled.compiled_expand_func.address
    )

    def constrain(x):
        flat = np.ascontiguousarray(x).reshape(-1, compiled.n_dim)
        out = np.full((len(flat), compiled.n_expanded), np.nan)
        from_, to = flat.ctypes.data, out.ctypes.data
        for row in range(len(flat)):
            expand(
                compiled.n_dim, compiled.n_expanded, from_ + row * flat.strides[0], to + row * out.strides[0], data
            )
        out = out.reshape(*x.shape[:2], -1)
        return {
            name: ((*compiled.dims.get(name, ()),), out[..., part].reshape(*x.shape[:2], *shape))
            for name, part, shape in variables
        }

    target._kept.append(compiled)
    target.constrain = constrain
    target.labels = dict(compiled.coords)
    return target


def _initialised(model, args, kwargs):
    """What NumPyro knows of the model at a point that has a density. It looks near one random point: a model that has none at
    most points is asked again from others."""
    import jax
    from numpyro.infer.util import initialize_model

    for seed in range(5):
        try:
            key = jax.random.PRNGKey(seed)
            return initialize_model(key, model, model_args=args, model_kwargs=kwargs, validate_grad=False)
        except (RuntimeError, ValueError) as error:
            first = error if seed == 0 else first
    raise first


def from_numpyro(model, *args, device="cpu", **kwargs) -> Target:
    """A NumPyro model with its arguments, as MCMC.run takes them. Latent variables and deterministics are recorded, in the
    model's own units, under their names; a dimension that is a plate has the plate's name. Latent variables must be
    continuous, or discrete and summed over (numpyro.contrib.funsor.config_enumerate, which needs funsor). Precision and
    device: those of from_jax.

    >>> import numpyro
    >>> from numpyro.distributions import HalfNormal, Normal
    >>> def model(y):
    ...     numpyro.sample("y", Normal(0, numpyro.sample("sd", HalfNormal(5))), obs=y)
    >>> tree = kilochain.sample(kilochain.from_numpyro(model, np.array([1.0, -2.0])), chains=64, progress=False)
    >>> list(tree["posterior"].data_vars)
    ['sd']
    """
    _give_jax_threads()
    import jax

    found = _initialised(model, args, kwargs)
    of_draws = jax.jit(jax.vmap(jax.vmap(found.postprocess_fn)))

    def dims(name, shape):
        site = found.model_trace[name]
        event_dims = site["fn"].event_dim if site["type"] == "sample" else 0
        plates = {f.dim - event_dims: f for f in site.get("cond_indep_stack", ())}
        own = [(plates.get(k - len(shape)), size) for k, size in enumerate(shape)]
        return tuple(p.name if p and p.size == size else f"{name}_dim_{k}" for k, (p, size) in enumerate(own))

    def constrain(draws):
        values = {name: np.asarray(v) for name, v in of_draws(draws).items()}
        return {name: (dims(name, v.shape[2:]), v) for name, v in values.items()}

    return from_jax(lambda z: -found.potential_fn(z), found.param_info.z, constrain=constrain, device=device)


with_settings(from_stan, "Further settings:", _core.targets()["stan"][1], ("model", "data"))
