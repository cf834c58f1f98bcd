#!/usr/bin/env python3
"""Draws the figures of `kilochain reproduce titsias2019 --figure ... --output FOLDER`: FOLDER/titsias2019_figureK.png.

  tools/plot_titsias2019.py FOLDER [K ...]

Every titsias2019_figureK.json in the folder is drawn, or those named. Needs matplotlib and NumPy.
"""
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

NAMES = {"gad_mala_fast": "gadMALAf", "gad_mala_exact": "gadMALAe", "gad_rwm": "gadRWM", "am": "AM", "rwm": "RWM",
         "mala": "MALA", "hmc5": "HMC-5", "hmc10": "HMC-10", "hmc20": "HMC-20", "nuts": "NUTS"}
DPI = 70


def contours(axis, covariance, colour, label):
    """Ellipses at 1, 2 and 3 standard deviations."""
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.linalg.cholesky(np.array(covariance)) @ np.array([np.cos(angle), np.sin(angle)])
    for size in (1, 2, 3):
        axis.plot(*(size * circle), color=colour, linewidth=1.3, label=label if size == 1 else None)


def covariances(data):
    figure, axes = plt.subplots(1, 4, figsize=(15, 4.2))
    for axis, case in zip(axes, data["two_dimensions"]):
        contours(axis, case["learnt"], "tab:blue", "learnt")
        contours(axis, case["target"], "tab:green", "target")
        axis.legend(loc="upper left", fontsize=9)
        axis.set_xlabel("x[0]")
        axis.set_ylabel("x[1]")
        axis.set_title(f"accept {case['target_accept']}: β = {case['beta']:.2g} at the end\n"
                       f"(mean of the last 5000: {case['beta_geometric_mean_last_5000']:.2g})", fontsize=10)
        axis.set_xlim(-6, 6)
        axis.set_ylim(-6, 6)
        axis.set_aspect("equal")
    case = data["fifty_one_dimensions"]
    for axis, key, title in ((axes[2], "target", "covariance, 51 dimensions"),
                             (axes[3], "learnt", f"learnt L L′ (error {case['relative_error_best_scale']:.3f},\n"
                                                 f"best scale {case['best_scale']:.2f})")):
        image = axis.imshow(case[key], cmap="viridis")
        axis.set_title(title, fontsize=10)
        figure.colorbar(image, ax=axis, shrink=0.8)
    return figure


def neal(data):
    schemes = data["schemes"]
    figure, axes = plt.subplots(2, len(schemes), figsize=(3 * len(schemes), 5))
    for column, scheme in zip(axes.T, schemes):
        steps = data["step"] * np.arange(len(scheme["trace"]))
        column[0].plot(steps, scheme["trace"], linewidth=0.4)
        column[0].set_title(NAMES[scheme["sampler"]])
        column[0].set_ylim(-4, 4)
        column[0].set_xticks([0, 10000, 20000])
        if scheme["diagonal"]:
            column[1].plot(range(1, len(scheme["diagonal"]) + 1), scheme["diagonal"], linewidth=1)
            column[1].set_ylim(bottom=0)
            column[1].set_xlabel("coordinate")
        else:
            column[1].axis("off")
            column[1].text(0.5, 0.5, "no factor", ha="center", color="grey")
    axes[0, 0].set_ylabel(f"coordinate {data['coordinate']}")
    axes[1, 0].set_ylabel("diagonal of L")
    return figure


def log_densities(data):
    schemes = data["schemes"]
    columns = min(4, len(schemes))
    rows = -(-len(schemes) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.4 * columns, 2.4 * rows), squeeze=False, sharey=True)
    best = np.concatenate([s["log_density"] for s in schemes if s["sampler"].startswith(("gad_mala", "hmc", "nuts"))])
    middle, spread = np.median(best), np.subtract(*np.percentile(best, [75, 25]))
    for axis in axes.flat[len(schemes):]:
        axis.axis("off")
    for axis, scheme in zip(axes.flat, schemes):
        values = np.array(scheme["log_density"])
        axis.plot(data["step"] * np.arange(len(values)), values, linewidth=0.4)
        axis.set_title(NAMES[scheme["sampler"]], fontsize=10)
        axis.set_ylim(middle - 6 * spread, middle + 4 * spread)
        axis.set_xticks([0, 10000, 20000])
        cut = np.mean(values < middle - 6 * spread)
        if cut > 0:
            axis.text(0.5, 0.08, f"{100 * cut:.2g} % below, down to {values.min():.0f}", ha="center", fontsize=8,
                      transform=axis.transAxes, color="grey")
    for row in axes:
        row[0].set_ylabel("log density")
    for axis in axes[-1]:
        axis.set_xlabel("iteration after warm-up", fontsize=9)
    return figure


def mnist(data):
    figure, axis = plt.subplots(figsize=(4.2, 3.6))
    image = axis.imshow(np.reshape(data["diagonal"], (data["rows"], data["columns"])), cmap="gray")
    axis.set_title("diagonal of L, pixel by pixel", fontsize=10)
    figure.colorbar(image, ax=axis)
    return figure


DRAW = {1: covariances, 2: neal, 3: log_densities, 4: log_densities, 5: log_densities, 6: log_densities, 7: mnist}


def main(arguments):
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder = arguments[0]
    wanted = [int(k) for k in arguments[1:]] or sorted(DRAW)
    drawn = 0
    for k in wanted:
        path = os.path.join(folder, f"titsias2019_figure{k}.json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            figure = DRAW[k](json.load(file))
        figure.tight_layout()
        picture = path[:-5] + ".png"
        figure.savefig(picture, dpi=DPI)
        plt.close(figure)
        print(picture)
        drawn += 1
    if drawn == 0:
        sys.exit(f"{folder}: no data of a figure (titsias2019_figureK.json). "
                 "Run kilochain reproduce titsias2019 --figure 1 --output first?")


if __name__ == "__main__":
    main(sys.argv[1:])
