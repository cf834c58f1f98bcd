"""Densities on a CUDA device, by DLPack: as far as that goes without one, and whole runs on the emulated one, where the
build has it (KILOCHAIN_DEVICE_DENSITY names a library that computes there)."""

import ctypes
import os

import kilochain as k
import numpy as np
import pytest
from conftest import means_agree

pytestmark = pytest.mark.filterwarnings("ignore::kilochain.ConvergenceWarning")
SHORT = dict(chains=8, warmup=60, draws=40, sampler="nuts", seed=3, progress=False, device="cuda")


class Tensor(ctypes.Structure):  # DLPack's, as far as it is looked at
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("id", ctypes.c_int32), ("ndim", ctypes.c_int32)]
    _fields_ += [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]
    _fields_ += [("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64))]


def tensor(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.argtypes, pointer.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.POINTER(Tensor)
    found = pointer(capsule, b"dltensor")[0]
    found.capsule = capsule  # which frees it
    return found


def test_an_array_of_a_device_is_one_of_dlpack():
    memory = np.zeros((2, 3))
    array = k.densities.DeviceArray(memory.ctypes.data, memory.shape, 4242)
    assert array.__dlpack_device__() == (2, 0)  # CUDA's first
    for stream in (4242, -1):  # the run's own, and a taker who wants no order: no call of CUDA
        taken = tensor(array.__dlpack__(stream=stream))
        assert (taken.data, taken.device, taken.ndim) == (memory.ctypes.data, 2, 2)
        assert (taken.code, taken.bits, taken.lanes) == (2, 64, 1)  # float64
        assert taken.shape[:2] == [2, 3] and (not taken.strides or taken.strides[:2] == [3, 1])
    versioned = array.__dlpack__(stream=-1, max_version=(1, 0), copy=None, dl_device=(2, 0))
    assert "dltensor_versioned" in repr(versioned)
    with pytest.raises(BufferError):
        array.__dlpack__(stream=-1, copy=True)


class Answer:
    """An array of the caller's on a device; `asked`: on which streams it is wanted."""

    def __init__(self, address, shape, before=None):
        self.array, self.before, self.asked = k.densities.DeviceArray(address, shape, 4242), before, []

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        if self.before:
            k._core.order_streams(self.before, stream)
        return self.array.__dlpack__(stream=-1)


class OfHost:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, stream=None):
        return self.values.__dlpack__()


def test_answers_of_another_shape_are_told():
    memory = np.zeros(64)
    to = k.densities.DeviceArray(memory.ctypes.data, (2, 3), 4242)
    answers = [Answer(memory.ctypes.data, shape) for shape in ((2, 4), (3, 3), (6,), (2, 3, 1))]
    for answer in [*answers, OfHost(np.zeros((3, 2)).T)]:
        with pytest.raises(ValueError, match=r"another shape \(the gradient for \(2, 3\)\)"):
            to._copy(answer, "the gradient")
    assert all(answer.asked == [4242] for answer in answers)  # the run's stream: it waits for the answer


def test_answers_of_another_kind_are_told():
    of_host = np.zeros(2)
    to = k.densities.DeviceArray(of_host.ctypes.data, (2,), 4242)
    with pytest.raises(ValueError, match=r"is not on the device \(lp for \(2,\)\)"):
        to._copy(OfHost(of_host), "lp")
    with pytest.raises(ValueError, match="not in double .* jax_enable_x64"):
        to._copy(OfHost(of_host.astype(np.float32)), "lp")


def test_jax_answers_what_it_is_asked_for(monkeypatch):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    seen = []
    monkeypatch.setattr(k.densities, "_on_device", lambda f, *rest: seen.append(f))
    k.from_jax(lambda x: -(x**2).sum() / 2, 3, device="cuda")
    x = np.arange(15.0).reshape(5, 3)
    lp, gradient = seen[0](x, None, None)  # an array of NumPy's has the same protocol
    assert isinstance(lp, jax.Array) and np.allclose(lp, -(x**2).sum(1) / 2) and np.array_equal(gradient, -x)


library = os.environ.get("KILOCHAIN_DEVICE_DENSITY", "")
emulated = pytest.mark.skipif(not library, reason="no emulated device in this build")


@pytest.fixture
def device():
    ctypes.CDLL(k._core.__file__, mode=ctypes.RTLD_GLOBAL)  # the device's runtime is in it
    found = ctypes.CDLL(library)
    size, address = ctypes.c_size_t, ctypes.c_void_p
    found.on_device.argtypes = [size, size, address, size, address, address, address, address]
    found.stream_of_its_own.restype = found.doubles_of_its_own.restype = address
    found.doubles_of_its_own.argtypes = [size]
    return found


def written(device):
    """On the run's own stream, into its memory."""

    def f(x, lp, gradient):
        assert device.on_device(*x.shape, x._address, x.shape[1], gradient._address, lp._address, x.stream, None) == 0

    return k.from_batched(f, 3, device="cuda")


@emulated
def test_a_density_that_writes_into_the_runs_memory(device):
    tree = k.sample(written(device), **SHORT)
    assert tree.attrs["device"] == "cuda (emulated)"
    means_agree(tree, "x", np.arange(3))


def answering(device, asked):
    """In memory of the caller's, on a stream of the caller's."""
    own, memory = device.stream_of_its_own(), {}

    def f(x, lp, gradient):
        chains, n = x.shape
        if chains not in memory:
            memory[chains] = device.doubles_of_its_own(chains), device.doubles_of_its_own(chains * n)
        values, slopes = memory[chains]
        at = tensor(x.__dlpack__(stream=own))  # the taker's stream waits for the run's
        assert device.on_device(chains, n, at.data, n, slopes, values, own, None) == 0
        answers = Answer(values, (chains,), own), Answer(slopes, (chains, n), own)
        asked.extend(answers)
        return answers

    return k.from_batched(f, 3, device="cuda")


@emulated
def test_answers_from_a_stream_of_the_callers(device):
    asked = []
    x = k.sample(answering(device, asked), **SHORT)["posterior"]["x"].values
    assert asked and all(len(one.asked) == 1 for one in asked)
    assert np.array_equal(x, k.sample(written(device), **SHORT)["posterior"]["x"].values)


@emulated
def test_without_an_order_of_streams_there_is_a_race(device, monkeypatch, capfd):
    """The emulated device runs streams late and in any order, and finds what is not ordered: whoever calls next is told,
    the run (DeviceError) or the density (whose assertion fails)."""
    monkeypatch.setattr(k._core, "order_streams", lambda earlier, later: None)
    with pytest.raises((k.DeviceError, AssertionError)):
        k.sample(answering(device, []), **SHORT)
    assert "race of streams" in capfd.readouterr().err
