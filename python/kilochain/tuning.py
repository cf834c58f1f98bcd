"""Looking for the settings of a sampler that suit a model."""

import json
import os
import tempfile
import threading
import warnings
from dataclasses import dataclass, field

from kilochain import _core, errors
from kilochain.described import with_settings
from kilochain.progress import Progress
from kilochain.sampling import _texts
from kilochain.targets import _as_target


@dataclass
class Tuned:
    """What a search has found: `sample(model, sampler=..., **tuned.best)` draws with it."""

    best: dict  #: settings of the sampler
    score: float  #: of the best, in its trial
    confirmed: dict  #: {"best": (mean, error), "untuned": (mean, error)} of fresh trials; empty where there were none
    trials: list  #: a dictionary for each: settings, score, ess_mean, acceptance_rate, gradients, seconds, ...
    notes: list = field(repr=False)
    folder: str | None = field(repr=False)  #: of the files, where an output was named


def _range(name, reach):
    return f"{name}=" + ":".join(str(part) for part in reach)


def _value(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def tune(model, over, *, sampler, chains=32, output=None, progress=True, progress_callback=None, **settings) -> Tuned:
    """Looks for the settings of a sampler that suit a model, by Bayesian optimisation over short trials (docs/tune.md).

    model: as for `sample`. over: {name: (low, high)} or {name: (low, high, "log")}, numbers of the sampler's settings.
    Returns a `Tuned`. Ctrl-C, and a progress_callback(dict) that returns true, give what was found until then. output:
    a folder, in which the table of trials is kept: the same call goes on with it, and `kilochain sample` takes its
    best.toml. Raises UsageError and DataError with the program's messages.

    >>> tuned = kilochain.tune(model, {"step_size": (0.01, 2, "log")}, sampler="hmc", num_steps=4, evaluations=12,
    ...                        confirm=0, progress=False)
    >>> sorted(tuned.best), len(tuned.trials)
    (['step_rule', 'step_size'], 12)

    {settings}
    """
    target = _as_target(model, settings)
    ranges = over if isinstance(over, str) else ",".join(_range(name, reach) for name, reach in over.items())
    with tempfile.TemporaryDirectory(prefix="kilochain-tune-") as passing:
        folder = os.fspath(output) if output is not None else passing
        asked = dict(over=ranges, sampler=sampler, chains=chains, output=folder, **settings)
        search = _core.Search(_texts(target, asked), target._density)
        found = _run(search, Progress() if progress else None, progress_callback)
        with open(os.path.join(folder, "trials.jsonl")) as table:
            trials = [json.loads(line) for line in table][1:]
    if found["stopped"]:
        warnings.warn("interrupted: this is what was found until then", errors.RunWarning, stacklevel=2)
    return Tuned(
        {name: _value(text) for name, text in found["best"].items()},
        found["score"],
        dict(zip(("best", "untuned"), found["confirmed"])),
        trials,
        found["notes"],
        folder if output is not None else None,
    )


def _run(search, show, callback):
    """Runs it on a thread beside, so that this one sees Ctrl-C."""
    outcome = {}

    def tell(p):
        if show:
            show(p)
        return bool(callback and callback(p))

    def run():
        try:
            outcome["found"] = search.run(tell)
        except BaseException as error:
            outcome["raised"] = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    pressed = None
    while thread.is_alive():
        try:
            thread.join(0.1)
        except KeyboardInterrupt as error:
            pressed = error
            search.stop()
    if show:
        show.end()
    if error := outcome.get("raised") or outcome["found"]["error"]:
        raise error
    if outcome["found"]["trials"] == 0:
        raise pressed or errors.Error("the search was stopped (before its first trial had ended). Give it longer?")
    return outcome["found"]


with_settings(
    tune,
    "Settings of a search, beside those of `sample`, of the sampler and of the target:",
    _core.tune_settings(),
    ("over", "output"),
)
