"""What runs raise and warn of: the program's exit statuses (docs/statuses.md) as exceptions, with the same messages."""


class Error(Exception):
    """What went wrong, where with the numbers, and a question that may lead on."""


class UsageError(Error, ValueError):
    """A setting, name or combination that cannot be, or an output that cannot be written (status 2)."""


class DataError(Error, ValueError):
    """Data that cannot be used, or a density without a value where chains start (3)."""


class OutputError(Error, OSError):
    """The output could not be written (5)."""


class DeviceError(Error, RuntimeError):
    """The CUDA device failed, has no memory left, or is older than this build (8)."""


class RunWarning(UserWarning):
    """A run has ended with draws that are not what was asked for."""


class QuarantineWarning(RunWarning):
    """Chains became non-finite and were left out; `quarantined` in the attributes has them (4)."""


class ConvergenceWarning(RunWarning):
    """The run has not converged; `reason` in the attributes says why (6)."""


class OutOfTimeWarning(RunWarning):
    """The time was over: these are the draws until then (9)."""


def of_status(status):
    """The exception of an exit status."""
    return {2: UsageError, 3: DataError, 5: OutputError, 8: DeviceError}.get(status, Error)
