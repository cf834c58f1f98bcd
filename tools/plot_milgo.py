#!/usr/bin/env python3
"""Draws the figure of `kilochain reproduce milgo --figure 1 --output FOLDER`: FOLDER/milgo_figure1.png.

  tools/plot_milgo.py FOLDER

Draws of pi4 in its first two coordinates over the contours that hold 68.3, 90, 95 and 99 % of them: in two dimensions the
quadratic form u_1^2/variance + u_2^2 is chi-square with 2 degrees of freedom, so a level p is the ellipse of squared radius
-2 log(1 - p), twisted. Needs matplotlib and NumPy.
"""
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DPI = 80


def contour(axis, level, twist, variance):
    angle = np.linspace(0, 2 * np.pi, 400)
    radius = np.sqrt(-2 * np.log(1 - level))
    first = np.sqrt(variance) * radius * np.cos(angle)
    second = radius * np.sin(angle) - twist * (first ** 2 - variance)
    axis.plot(first, second, color="black", linewidth=0.5)
    # Each label stands on its own contour, at the outer end of an arm.
    axis.annotate(f"{100 * level:g} %", (first[0], second[0]), xytext=(3, -2), textcoords="offset points", fontsize=7)


def main(folder):
    with open(os.path.join(folder, "milgo_figure1.json"), encoding="utf-8") as file:
        data = json.load(file)
    figure, axes = plt.subplots(1, len(data["samplers"]), figsize=(4 * len(data["samplers"]), 4.4), sharey=True)
    for axis, sampler in zip(axes, data["samplers"]):
        points = np.array(sampler["points"])
        axis.plot(points[:, 0], points[:, 1], ".", markersize=2, color="tab:blue", alpha=0.5, zorder=3)
        for level in data["levels"]:
            contour(axis, level, data["twist"], data["variance"])
        axis.set_title(f"{sampler['name']}: {len(points)} draws of 100 runs")
        axis.set_xlabel("x[0]")
        axis.margins(x=0.12)
    axes[0].set_ylabel("x[1]")
    figure.tight_layout()
    figure.savefig(os.path.join(folder, "milgo_figure1.png"), dpi=DPI)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
