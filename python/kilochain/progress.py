"""What a run says while it goes on: a line in a terminal, a table in a notebook, refreshed in place."""

import math
import sys


def _in_notebook():
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


def _figures(p):
    total = f" of {p['total']}" if p["total"] else ""
    rows = [(p["phase"], f"{p['done']}{total}"), ("acceptance", f"{p['acceptance_rate']:.3f}")]
    if p["iterations_per_second"] > 0:
        rows.append(("iterations a second", f"{p['iterations_per_second']:.3g}"))
    if p["eta_seconds"] >= 0:
        rows.append(("left", f"{p['eta_seconds']:.0f} s"))
    rows += [
        (name, text.format(p[key]))
        for name, key, text in (("R-hat", "rhat_max", "{:.3f}"), ("ESS", "ess_min", "{:.0f}"))
        if math.isfinite(p[key])
    ]
    return rows + ([("quarantined", str(p["quarantined"]))] if p["quarantined"] else [])


class Progress:
    """Shows what `sample` tells it; nothing where there is neither a terminal nor a notebook."""

    def __init__(self):
        self.latest, self._handle, self._drawn = {}, None, False

    def _repr_html_(self):
        rows = "".join(
            f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in (_figures(self.latest) if self.latest else [])
        )
        return f"<table>{rows}</table>"

    def __call__(self, p):
        self.latest = p
        if _in_notebook():
            from IPython.display import display

            if self._handle is None:
                self._handle = display(self, display_id=True)
            else:
                self._handle.update(self)
        elif sys.stderr.isatty():
            self._drawn = True
            print(
                "\r" + "  ".join(f"{name} {text}" for name, text in _figures(p)) + "\033[K",
                end="",
                file=sys.stderr,
                flush=True,
            )

    def end(self):
        if self._drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
