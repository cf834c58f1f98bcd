#!/usr/bin/env python3
"""Draws the figures of `kilochain reproduce mahendran2011 --output FOLDER`: FOLDER/mahendran2011_MODEL.png.

  tools/plot_mahendran2011.py FOLDER

A row for each model: |autocorrelation| of the energy with a standard deviation over runs (4.1, 4.4, 4.7), energies of the
first steps of the first run (4.2, 4.5, 4.8), and the mean of the Gaussian processes over the box, averaged over runs (4.3,
4.6, 4.9). Needs matplotlib and NumPy.
"""
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

DPI = 80


def draw(results, path):
    figure, (correlation, trace, surface) = plt.subplots(1, 3, figsize=(16, 4.4))
    for result in results:
        mean, sd = (np.array(result["autocorrelation"][key]) for key in ("mean", "sd"))
        drawn, = correlation.plot(mean, label=result["method"])
        correlation.fill_between(np.arange(len(mean)), mean - sd, mean + sd, color=drawn.get_color(), alpha=0.2, linewidth=0)
        trace.plot(result["trace"], color=drawn.get_color(), linewidth=0.7, label=result["method"])
        if "surface" in result:
            box = result["surface"]
            values = np.array(box["mean"]).reshape(box["gammas"], box["walks"])
            image = surface.imshow(values, origin="lower", aspect="auto", cmap="viridis",
                                   extent=(0.5, box["walks"] + 0.5, 0, box["largest_gamma"]))
            plt.colorbar(image, ax=surface)
    runs = min(result["runs"] for result in results)
    correlation.set(xlabel="lag", ylabel="|autocorrelation| of the energy", ylim=(0, 1),
                    title=f"{results[0]['model']}: mean of {runs} runs, and a standard deviation over them")
    correlation.legend()
    trace.set(xlabel="step", ylabel="energy", title="first run")
    surface.set(xlabel="length of a walk", ylabel="gamma", title="mean of the score's model, over runs")
    figure.tight_layout()
    figure.savefig(path, dpi=DPI)


def main(folder):
    with open(os.path.join(folder, "mahendran2011.json"), encoding="utf-8") as file:
        results = json.load(file)
    for model in sorted({r["model"] for r in results}):
        draw([r for r in results if r["model"] == model], os.path.join(folder, f"mahendran2011_{model}.png"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
