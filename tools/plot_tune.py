#!/usr/bin/env python3
"""Draws what `kilochain tune --output FOLDER` has found: FOLDER/surface.png.

  tools/plot_tune.py FOLDER

Left the model's mean, right its standard deviation, over each pair of settings (the others at their best); crosses are
trials, the star is the best. For one setting: the mean with two standard deviations, and the trials. Scores of effective
sample sizes are natural logarithms. Needs matplotlib and NumPy.
"""
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DPI = 80


def along(data, axis):
    part, dimension = data["slices"][0], data["dimensions"][0]
    x = np.array(part["axes"][0])
    mean, sd = (np.array(part[key])[:, 0] for key in ("mean", "sd"))
    axis.fill_between(x, mean - 2 * sd, mean + 2 * sd, alpha=0.25, linewidth=0, label="mean and 2 standard deviations")
    axis.plot(x, mean)
    low = min(mean - 2 * sd)
    values, scores = zip(*((t["values"][0], max(t["score"], low)) for t in data["trials"]))
    axis.plot(values, scores, "x", color="black", markersize=4, label="trials")
    axis.axvline(data["best"][0], color="tab:red", linewidth=0.8, label="best")
    axis.set_xlabel(dimension["name"])
    axis.set_ylabel(title_of(data))
    if dimension["log"]:
        axis.set_xscale("log")
    axis.legend()


def over(data, part, key, title, axis):
    i, j = part["dimensions"]
    first, second = data["dimensions"][i], data["dimensions"][j]
    x, y = np.array(part["axes"][0]), np.array(part["axes"][1])
    drawn = axis.contourf(x, y, np.array(part[key]).T, 20, cmap="viridis")
    axis.plot([t["values"][i] for t in data["trials"]], [t["values"][j] for t in data["trials"]], "x", color="white",
              markersize=4)
    axis.plot(data["best"][i], data["best"][j], "*", color="tab:red", markersize=14)
    for set_scale, set_label, dimension in ((axis.set_xscale, axis.set_xlabel, first),
                                            (axis.set_yscale, axis.set_ylabel, second)):
        if dimension["log"]:
            set_scale("log")
        set_label(dimension["name"])
    axis.set_title(title)
    plt.colorbar(drawn, ax=axis)


def title_of(data):
    return ("log " if data["log"] else "") + data["objective"]


def main(folder):
    with open(os.path.join(folder, "surface.json"), encoding="utf-8") as file:
        data = json.load(file)
    if len(data["dimensions"]) == 1:
        figure, axis = plt.subplots(figsize=(7, 4.4))
        along(data, axis)
    else:
        rows = len(data["slices"])
        figure, axes = plt.subplots(rows, 2, figsize=(11, 4.4 * rows), squeeze=False)
        for part, (left, right) in zip(data["slices"], axes):
            over(data, part, "mean", "mean of " + title_of(data), left)
            over(data, part, "sd", "standard deviation", right)
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "surface.png"), dpi=DPI)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
