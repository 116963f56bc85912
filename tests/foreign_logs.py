"""Reading a log that a test wrote, and the ways in which a log can be broken."""

from collections.abc import Callable, Mapping

import numpy as np
from hypothesis import strategies as st

from gapline.campaign.assembly import campaign_from_traces
from gapline.contract.tables import VerdictCode
from gapline.errors import GaplineError
from gapline.logs.reader import HEAD, Found, FoundRun, LogFile, Reader


def read_log(
    reader: Reader,
    text: str | bytes,
    *,
    path: str = "run.log",
    beside: Mapping[str, str] | None = None,
    cut: bool = False,
) -> Found:
    """Read a text as the importer hands it over, after asking whether it is recognised."""
    data = text.encode() if isinstance(text, str) else text
    companions = {name: content.encode() for name, content in (beside or {}).items()}
    return reader.read(LogFile(path, data, cut=cut, beside=companions.get))


def read_or_refuse(reader: Reader) -> Callable[[bytes], Found | None]:
    """Return how a log is read where it may be broken: what was found, or None where the reader refuses it."""

    def attempt(data: bytes) -> Found | None:
        try:
            return read_log(reader, data)
        except GaplineError:
            return None

    return attempt


def candidates(run: FoundRun) -> list[tuple[float, float]]:
    """Return (time, objective) of the valid candidates of a run, in the order of the log."""
    valid = np.asarray(run.verdict) == VerdictCode.VALID
    return list(zip(run.time[valid].tolist(), run.objective[valid].tolist(), strict=True))


def bounds(run: FoundRun) -> list[tuple[float, float]]:
    """Return (time, bound) of every event that carries a bound."""
    if run.bound is None:
        return []
    known = ~np.isnan(run.bound)
    return list(zip(run.time[known].tolist(), run.bound[known].tolist(), strict=True))


def survive(reader: Reader, data: bytes, *, path: str = "run.log", beside: Mapping[str, bytes] | None = None) -> None:
    """Assert that bytes are refused by an error of ours, or give runs that make a campaign, everything counted."""
    assert reader.looks_like(path, data[:HEAD]) in (True, False)
    assert reader.is_companion(path, data[:HEAD]) in (True, False)
    try:
        found = reader.read(LogFile(path, data, beside=dict(beside or {}).get))
    except GaplineError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert path in refused
        return
    traces = []
    for number, run in enumerate(found.runs):
        assert run.sense in ("min", "max", None)
        assert len(run.time) == len(run.objective) == len(run.verdict)
        traces.append(run.named(arm=run.arm or "a", instance=run.instance or "i", seed=number, panel=run.panel))
        valid = np.asarray(run.verdict) == VerdictCode.VALID
        assert np.isfinite(run.time[valid]).all()
        assert np.isfinite(run.objective[valid]).all()
    campaign = campaign_from_traces(traces, problems=found.problems, notes=found.notes)
    assert len(campaign) == len(found.runs)
    invalid = sum(int(np.count_nonzero(np.asarray(run.verdict) == VerdictCode.INVALID)) for run in found.runs)
    assert campaign.diagnostics.rejected_count == invalid


HOSTILE = (
    b"\x00",
    b"\xff\xfe",
    b"\r",
    b"\n",
    b"nan",
    b"inf",
    b"1e999",
    b"1,5",
    b"-",
    b"9" * 400,
    b"{",
    b"[" * 50,
    b"%",
    b"#1 ",
)


@st.composite
def mutated(draw: st.DrawFn, log: bytes) -> bytes:
    """A log with a few bytes, tokens or lines cut, doubled, swapped or replaced by something hostile."""
    data = log
    for _ in range(draw(st.integers(1, 5))):
        size = len(data)
        a, b = sorted((draw(st.integers(0, size)), draw(st.integers(0, size))))
        b = min(b, a + draw(st.integers(0, 200)))
        kind = draw(st.sampled_from(("cut", "drop", "double", "replace", "lines")))
        if kind == "cut":
            data = data[:a] if a > size // 4 else data
        elif kind == "drop":
            data = data[:a] + data[b:]
        elif kind == "double":
            data = data[:b] + data[a:b] + data[b:]
        elif kind == "replace":
            data = data[:a] + draw(st.sampled_from(HOSTILE) | st.binary(max_size=12)) + data[b:]
        else:
            lines = data.split(b"\n")
            i, j = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
            lines[i], lines[j] = lines[j], lines[i]
            data = b"\n".join(lines)
    return data
