"""Whether this machine's processor has what the extension was compiled for: one that has not would end the process."""

from kilochain._processor import NEEDS

_FLAGS = {"x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}}


def missing(needs: str, cpuinfo: str) -> set[str]:
    """The instructions of `needs` that no line `flags` of `cpuinfo` has; none where there is no such line.

    >>> sorted(missing("x86-64-v3", "flags : fpu avx bmi1 bmi2 f16c movbe"))
    ['avx2', 'fma']
    """
    lines = [line for line in cpuinfo.splitlines() if line.startswith("flags")]
    return _FLAGS.get(needs, set()) - set(lines[0].split()) if lines else set()


def require() -> None:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            lacks = missing(NEEDS, file.read())
    except OSError:  # not every container shows it
        return
    if lacks:
        raise ImportError(
            f"this wheel of kilochain needs a processor with {', '.join(sorted(lacks))} ({NEEDS}). "
            "Build for this one with pip install --no-binary kilochain kilochain, or from the sources with pip install . ?"
        )
