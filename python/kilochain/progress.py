"""What a run says while it is under way: a line in a terminal, a table in a notebook, refreshed in place."""

import html
import math
import sys


def _in_notebook():
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return shell is not None and hasattr(shell, "kernel")


def _figures(p):
    """Names and texts of what a run, or a search, tells."""
    total = f" of {p['total']}" if p["total"] else ""
    rows = [(p["phase"], f"{p['done']}{total}")]
    for name, key, text, known in (
        ("acceptance", "acceptance_rate", "{:.3f}", math.isfinite),
        ("iterations a second", "iterations_per_second", "{:.3g}", lambda v: v > 0),
        ("left", "eta_seconds", "{:.0f} s", lambda v: v >= 0),
        ("until the limit", "seconds_left", "{:.0f} s", lambda v: v >= 0),
        ("R-hat", "rhat_max", "{:.3f}", math.isfinite),
        ("ESS", "ess_min", "{:.0f}", math.isfinite),
        ("quarantined", "quarantined", "{}", bool),
        ("waits for", "waits_for", "{}", bool),
        ("best score", "score", "{:.4g}", math.isfinite),
        ("with", "best", "{}", bool),
    ):
        if key in p and known(p[key]):
            rows.append((name, text.format(p[key])))
    return rows


class Progress:
    """Shows what `sample` tells it; nothing where there is neither a terminal nor a notebook."""

    def __init__(self):
        self.latest, self._handle, self._drawn = {}, None, False

    def _repr_html_(self):
        p = self.latest
        rows = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in _figures(p)) if p else ""
        bar = f'<progress value="{p["done"]}" max="{p["total"]}"></progress>' if p and p["total"] else ""
        return f"{bar}<table>{rows}</table>"

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
