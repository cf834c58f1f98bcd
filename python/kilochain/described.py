"""Words of the program's tables: what a setting is, its range and its default, as docstrings have them."""


def line(row):
    """One setting: name: meaning (type, range; default)."""
    name, kind, standard, reach, meaning = row
    kind = f"{kind}, {reach}" if reach else kind
    return f"{name}: {meaning} ({kind}; default {standard})" if standard else f"{name}: {meaning} ({kind})"


def with_settings(function, heading, rows, own=()):
    """Puts the settings, but for a function's own, where its docstring has {settings}."""
    lines = [heading, *(line(row) for row in rows if row[0] not in own)]
    function.__doc__ = function.__doc__.replace("{settings}", "\n    ".join(lines))
    return function
