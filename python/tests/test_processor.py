"""A wheel for a newer processor than this one says so before it is loaded."""

import pytest

from kilochain import processor


def test_what_is_missing_is_named(monkeypatch):
    old = "processor : 0\nflags : fpu sse2 avx movbe\n"
    assert processor.missing("x86-64-v3", old) == {"avx2", "bmi1", "bmi2", "f16c", "fma"}
    assert not processor.missing("", old)
    assert not processor.missing("x86-64-v3", "Features : neon\n")  # no line that would tell
    monkeypatch.setattr(processor, "NEEDS", "x86-64-v3")
    monkeypatch.setattr(processor, "missing", lambda needs, text: {"fma", "avx2"})
    with pytest.raises(ImportError, match=r"needs a processor with avx2, fma \(x86-64-v3\)"):
        processor.require()
