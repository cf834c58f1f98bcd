"""Results of runs as xarray's DataTree, in the groups and under the names that ArviZ reads."""

from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr

from kilochain import _core

if TYPE_CHECKING:
    import arviz
    import pandas


def _labels(own, variable, shape):
    """For each dimension the labels of a variable's values, whose names are "L[2,1]", "w[maybe, x0]" or anything."""
    inside = [n[len(variable) + 1 : -1] if n.startswith(variable + "[") else n for n in own]
    parts = [[int(p) if p.isdigit() else p for p in re.split(", *", label)] for label in inside]
    if len({len(p) for p in parts}) == 1:
        labels = [list(dict.fromkeys(column)) for column in zip(*parts)]
        grid = [len(column) for column in labels]
        if list(map(list, itertools.product(*labels))) == parts and (grid == list(shape) or len(shape) == 1):
            return labels  # a file of draws knows no more than the size
    return [inside] if len(shape) == 1 else [range(n) for n in shape]


def _groups(result):
    """For each group its data variables, and the labels of all dimensions."""
    draws, names, at = result["draws"], result["names"], 0
    groups, coords = {}, {}
    for variable, shape, group in result["variables"]:
        size = int(np.prod(shape)) if shape else 1
        values, own = draws[:, :, at : at + size], names[at : at + size]
        at += size
        labels = _labels(own, variable, shape) if shape else []
        dims = [f"{variable}_dim_{k}" for k in range(len(labels))]
        coords.update(zip(dims, map(list, labels)))
        grid = [len(column) for column in labels]
        of_group = groups.setdefault(group, {})
        of_group[variable] = (("chain", "draw", *dims), values.reshape(*values.shape[:2], *grid))
    return groups, coords


def _datasets(result, draw, superchains, constrain, labels):
    """The groups of draws, and that of their statistics. draw: a number for each."""
    places = {"chain": np.arange(len(result["draws"])), "draw": draw}
    if superchains > 1:
        places["superchain"] = ("chain", places["chain"] % superchains)
    found, coords = _groups(result)
    if constrain:
        coords, found = {}, {"posterior": {}}
        for name, values in constrain(result["draws"]).items():
            dims, values = values if isinstance(values, tuple) else ((), values)
            values = np.asarray(values)
            dims = dims or [f"{name}_dim_{k}" for k in range(values.ndim - 2)]
            found["posterior"][name] = (("chain", "draw", *dims), values)
    coords.update(labels)
    groups = {}
    for group, variables in found.items():
        used = {dim for dims, _ in variables.values() for dim in dims}
        groups[group] = xr.Dataset(variables, {**places, **{d: c for d, c in coords.items() if d in used}})
    statistics = {"lp": result["lp"], **result["statistics"]} if "lp" in result else {}
    if "diverging" in statistics:
        statistics["diverging"] = statistics["diverging"] != 0
    statistics = {k: (("chain", "draw"), v) for k, v in statistics.items()}
    groups["sample_stats_prior" if "prior" in found else "sample_stats"] = xr.Dataset(statistics, places)
    return groups


def tree_of(result, constrain=None, labels={}):
    """The DataTree of a run. Draws are views of the run's own memory. constrain: draws to {name: array}, or None;
    labels: of dimensions, where the target knows better ones."""
    summary = json.loads(result["summary"])
    groups = {}
    if "draws" in result:
        draw = np.arange(result["draws"].shape[1])
        groups = _datasets(result, draw, summary["superchains"], constrain, labels)
    if last := result.get("warmup"):  # as ArviZ calls them
        superchains = 0 if last["of_scouts"] else summary["superchains"]
        parts = {**last, "names": result["names"], "variables": result["variables"]}
        own = _datasets(parts, last["iterations"], superchains, constrain, labels)
        groups.update({f"warmup_{name}": group for name, group in own.items()})
    figures = ["mean", "sd", "mcse_mean", "q05", "q50", "q95", "ess_bulk", "ess_tail", "rhat"]
    rows = [[p[f] if p[f] is not None else np.nan for f in figures] for p in summary["parameters"]]
    groups["summary"] = xr.Dataset(
        {f: ("parameter", [row[k] for row in rows]) for k, f in enumerate(figures)},
        {"parameter": [p["name"] for p in summary["parameters"]]},
    )
    facts = {
        k: summary[k]
        for k in (
            "target",
            "sampler",
            "device",
            "real",
            "num_chains",
            "num_warmup",
            "num_samples",
            "gradient_evaluations",
            "divergences",
            "min_ess_per_second",
            "rhat_max",
            "superchains",
        )
    }
    facts.update(
        inference_library="kilochain",
        inference_library_version=_core.version,
        seconds=summary["seconds"]["total"],
        converged=result["converged"],
        reason=result["reason"],
        status=result["status"],
        notes=result["notes"],
        equal_modes=summary.get("equal_modes", ""),
        unequal_modes=summary.get("unequal_modes", ""),
        quarantined=[q[0] for q in result["quarantined"]],
    )
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {
        k: int(v) if isinstance(v, bool) else v for k, v in facts.items() if v is not None
    }  # as NetCDF has them
    for group in tree.children.values():
        group.attrs = {k: tree.attrs[k] for k in ("inference_library", "inference_library_version")}
    return tree


def summary(tree) -> pandas.DataFrame:
    """Mean, standard deviation, quantiles, effective sample sizes and R-hat of each recorded value: a pandas
    DataFrame with a row for each. The figures are the run's own, of all its draws.

    >>> list(kilochain.summary(kilochain.sample(model, chains=64, progress=False)).columns)
    ['mean', 'sd', 'mcse_mean', 'q05', 'q50', 'q95', 'ess_bulk', 'ess_tail', 'rhat']
    """
    return tree["summary"].to_dataset().to_dataframe()


def to_inferencedata(tree) -> arviz.InferenceData:
    """The same as InferenceData, for ArviZ below 1."""
    import arviz

    groups = {name: group.to_dataset() for name, group in tree.children.items() if name != "summary"}
    return arviz.InferenceData(attrs=dict(tree.attrs), **groups)
