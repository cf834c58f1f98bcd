"""Runs: sample, resume, estimate, and a handle of a run in the background."""

from __future__ import annotations

import os
import threading
import warnings
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kilochain import _core, errors
from kilochain.described import with_settings
from kilochain.progress import Progress
from kilochain.targets import Target, _as_target, _npy
from kilochain.tree import tree_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kilochain._settings import Settings  # a stub that the build makes of the tables

_names = {"chains": "num_chains", "warmup": "num_warmup", "draws": "num_samples", "keep": "draws"}


def _text(value):
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ",".join(_text(v) for v in value)
    return (
        repr(float(value))
        if isinstance(value, (float, np.floating))
        else os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    )


def _texts(target, settings):
    """Settings and target as the pairs of texts that the program takes; what is None or "auto" is left to it."""
    texts = [(_names.get(k, k), _text(v)) for k, v in settings.items() if v is not None]
    texts = [(k, v) for k, v in texts if (k, v) != ("sampler", "auto")]
    if target is not None:
        texts += [("target", target.name)] + [("target." + k, _text(v)) for k, v in target.settings.items()]
    return texts


class Sampling:
    """A run: `wait()` for its DataTree, `stop()` it, look at its `progress()` and at its `partial()` draws.

    >>> run = kilochain.sample(model, chains=64, progress=False, blocking=False)
    >>> run.wait()["posterior"].sizes["chain"]
    64
    """

    def __init__(self, target, settings, resume="", progress=True, progress_callback=None):
        keep = settings.pop("keep", None) or "draws"
        settings["keep"] = "all" if keep == "draws" else keep
        self._target, self._kept = target, []
        if isinstance(settings.get("init"), np.ndarray):
            self._kept.append(_core.FileInMemory(f"<init {id(self)}>", _npy(np.atleast_2d(settings["init"]))))
            settings["init"] = "file:" + self._kept[-1].name
        save_warmup = bool(settings.get("save_warmup"))
        if save_warmup and settings.get("warmup") in (None, "auto"):
            del settings["save_warmup"]  # a file has no room for statistics of a length that is not known
        density = target._density if target else None
        self._run = _core.Run(_texts(target, settings), settings["keep"] == "all", save_warmup, resume, density)
        self._show, self._callback = Progress() if progress else None, progress_callback
        self._latest, self._result, self._error, self._thread = {}, None, None, None

    def _tell(self, p):
        self._latest = p
        if self._show:
            self._show(p)
        return bool(self._callback and self._callback(p)) or bool(self._target and self._target._raised)

    def _sample(self):
        try:
            self._result = self._run.sample(self._tell)
        except BaseException as error:
            self._error = error
        finally:
            if self._show:
                self._show.end()

    def _begin(self):
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()
        return self

    def progress(self):
        """What is known so far: phase, done, total, seconds, acceptance_rate, rhat_max, ess_min, ..."""
        return dict(self._latest)

    def stop(self):
        """Ends the run soon; `wait()` then has the draws until then."""
        self._run.stop()

    def partial(self):
        """The draws until now as a DataTree, while the run goes on; None before the first. After its end as `wait`."""
        if self._thread and self._thread.is_alive():
            if (result := self._run.partial()) is not None:
                return self._tree(result)
            if self._thread.is_alive():
                return None
        return self.wait()

    def _tree(self, result):
        target = self._target
        return tree_of(result, target.constrain, target.labels) if target else tree_of(result)

    def wait(self):
        """The run's DataTree, when it has ended. Raises and warns as `sample` does."""
        if self._thread:
            self._thread.join()
        raised = self._target._raised.pop() if self._target and self._target._raised else None
        if self._error:
            raise raised or self._error
        result = self._result
        error, tree = raised or result["error"], self._tree(result)
        if error and (result["nothing_drawn"] or not isinstance(error, KeyboardInterrupt)):
            error.partial = tree
            raise error
        _warn(result)
        return tree


def _warn(result):
    if result["quarantined"]:
        chain, iteration, reason = result["quarantined"][0]
        count = len(result["quarantined"])
        warnings.warn(
            f"{count} chains were quarantined (the first: chain {chain} at iteration {iteration}: {reason})",
            errors.QuarantineWarning,
            stacklevel=4,
        )
    if result["status"] in (9, 130):
        kind, words = (
            (errors.OutOfTimeWarning, "the time is over")
            if result["status"] == 9
            else (errors.RunWarning, "interrupted")
        )
        warnings.warn(f"{words}: these are the draws until then", kind, stacklevel=4)
    elif not result["converged"]:
        warnings.warn(f"not converged: {result['reason']}", errors.ConvergenceWarning, stacklevel=4)


def sample(
    model,
    *,
    chains="auto",
    warmup="auto",
    draws="auto",
    sampler="auto",
    seed=None,
    device="auto",
    keep="draws",
    target_ess=None,
    max_seconds=None,
    output=None,
    init=None,
    progress=True,
    progress_callback=None,
    blocking=True,
    **settings: Unpack[Settings],
) -> xr.DataTree:
    """Draws from a model with many chains.

    model: LogisticRegression(X, y), from_stan(...), from_batched(...), ..., or the name of a target with its settings
    beside the others. Returns an xarray.DataTree: `posterior` (chain, draw, ...), `sample_stats`, `summary`, and
    attributes of the run, `converged` and `reason` among them. A run that has not converged warns, once. Ctrl-C gives
    what was drawn.

    chains, warmup, draws: numbers, or "auto": as many as pay; until it has converged; as many as are needed. sampler:
    a name of kilochain.samplers(); "auto" is the ensemble. seed: None is 1. device: "auto", "cpu", "cuda" or "cuda:1".
    keep: "draws", "moments" (figures alone) or "none". target_ess: effective draws of the slowest mean or tail with which a run without `draws` ends; None is
    10 000. save_warmup=True: `warmup_posterior` and `warmup_sample_stats` too, the last few hundred draws of the
    warm-up. output: a NetCDF file, which `resume` continues; one that has draws is replaced with overwrite=True
    alone. init: "normal:0.1", "zeros", or an array (chains, dim) or (dim). progress_callback(dict) is called at most
    every 0.2 s; the run ends when it returns true. blocking=False returns a `Sampling` at once. Raises UsageError and
    DataError with the program's messages.

    >>> tree = kilochain.sample(kilochain.LogisticRegression(X, y), chains=64, progress=False)
    >>> tree["posterior"].sizes["chain"], tree.attrs["converged"]
    (64, 1)
    >>> tree = kilochain.sample("funnel", dim=3, chains=4, warmup=100, draws=50, sampler="nuts", progress=False)
    >>> tree["posterior"].sizes["draw"]
    50

    {settings}
    """
    run = _prepared(**locals())
    if not blocking:
        return run._begin()
    run._sample()
    return run.wait()


def _prepared(model, progress, progress_callback, blocking, settings, **common):
    target = _as_target(model, settings)
    return Sampling(target, {**common, **settings}, "", progress, progress_callback)


def resume(path, model=None, *, draws=None, max_seconds=None, progress=True, progress_callback=None) -> xr.DataTree:
    """Goes on with the run that has left the file: `draws` in all, or as many as it was to make. A model of arrays or
    functions is given again, the same as before. Returns all draws as `sample` does.

    >>> run = dict(chains=4, warmup=50, sampler="mala", progress=False)
    >>> half = kilochain.sample("gaussian", preset="gauss2d_corr", draws=50, output=folder + "/run.nc", **run)
    >>> kilochain.resume(folder + "/run.nc", draws=100, progress=False)["posterior"].sizes["draw"]
    100
    """
    run = Sampling(model, dict(draws=draws, max_seconds=max_seconds), os.fspath(path), progress, progress_callback)
    run._sample()
    return run.wait()


def estimate(model, *, chains="auto", warmup="auto", draws="auto", **settings) -> dict:
    """What a run would take, before it runs: bytes on host, device and disk, seconds (-1: not known), and whether it
    fits.

    >>> kilochain.estimate(model, chains=100, warmup=100, draws=100)["fits"]
    True
    """
    target = _as_target(model, settings)
    return Sampling(target, dict(chains=chains, warmup=warmup, draws=draws, **settings), progress=False)._run.estimate()


def read(path) -> xr.DataTree:
    """The DataTree of a file that a run has written.

    >>> run = dict(chains=4, warmup=50, draws=50, sampler="mala", progress=False)
    >>> tree = kilochain.sample(model, output=folder + "/run.nc", **run)
    >>> kilochain.read(folder + "/run.nc")["posterior"].identical(tree["posterior"])
    True
    """
    return tree_of(_core.read(os.fspath(path)))


def _described(rows):
    return {
        name: dict(type=kind, default=default, range=reach, meaning=meaning)
        for name, kind, default, reach, meaning in rows
    }


def samplers() -> dict:
    """Every sampler: {name: {"meaning": ..., "settings": {name: {type, default, range, meaning}}}}.

    >>> kilochain.samplers()["nuts"]["settings"]["max_tree_depth"]["type"]
    'integer'
    """
    return {
        name: dict(meaning=meaning, settings=_described(rows)) for name, (meaning, rows) in _core.samplers().items()
    }


def targets() -> dict:
    """Every target of the program, likewise.

    >>> kilochain.targets()["logistic_regression"]["settings"]["prior_sd"]["type"]
    'number'
    """
    return {name: dict(meaning=meaning, settings=_described(rows)) for name, (meaning, rows) in _core.targets().items()}


_own = {"target", "sampler", "seed", "device", "max_seconds", "output", "init", "target_ess", "quiet", "verbose", "json"}
with_settings(
    sample,
    "Further settings, with those of the sampler and of the target:",
    _core.settings(),
    {*_own, *_names.values()},
)
