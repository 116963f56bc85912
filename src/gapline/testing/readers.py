"""The requirements on every format reader, as a test class to inherit; mutations are drawn from a fixed seed."""

import gzip
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gapline.campaign.store import open_campaign
from gapline.contract.tables import RunStatus, VerdictCode
from gapline.errors import GaplineError
from gapline.files.compression import UTF_8_MARK
from gapline.logs.formats import all_readers
from gapline.logs.importer import import_logs
from gapline.logs.log_files import load_file
from gapline.logs.reader import HEAD, Found, FoundRun, LogFile, Reader

_FOREIGN = (
    b"", b"\n", b"lorem ipsum\n", b"a,b,c\n1,2,3\n", b"{}\n", b"[]\n", bytes(range(256)) * 8, b"\0" * 1000,
)  # fmt: skip
# Repeated, each makes a careless pattern restart at every byte.
_NOISE = (b"\n", b" ", b"\t\n", b"9", b"x", b"* ", b"[ ", b"{", b"- ", b"time ", b"a;", b",", b'"', b"0.1 ")
# Lines of solvers about a relaxation, which is no solution and proves nothing about the problem itself.
_RELAXATIONS = (
    "Clp0000I Optimal - objective value {}", "Clp0032I Optimal objective {} - 57 iterations time 0.002",
    "Root relaxation: objective {}, 57 iterations, 0.00 seconds (0.00 work units)", "Optimal - objective value {}",
    "Cuts at root node changed objective from {} to {}", "Final objective                         : {}",
    "Optimal objective  {}",
)  # fmt: skip
_MUTATIONS = 300
_VARIANTS = 60
_LONG_LINE = 8 << 20


class ReaderConformance:
    r"""Inherit, set `reader`, the `path` of a file in its format, a whole `sample` and its expected content.

    `candidates` are (time, objective) of the valid ones of its first run, in order; `companions` are files next to the
    sample, name to bytes. Line endings and long lines are tested only if the format `is_text`. `proofs` are words of
    the lines that state a proof of optimality, if the format has such lines. ::

        class TestMine(ReaderConformance):
            reader = READER
            sample = b"start\n1.0 best 20\n2.5 best 17\nend\n"
            candidates = ((1.0, 20.0), (2.5, 17.0))
    """

    reader: ClassVar[Reader]
    path: ClassVar[str] = "run.log"
    sample: ClassVar[bytes]
    runs: ClassVar[int] = 1
    candidates: ClassVar[Sequence[tuple[float, float]]]
    is_text: ClassVar[bool] = True
    companions: ClassVar[Mapping[str, bytes]] = {}
    proofs: ClassVar[Sequence[bytes]] = ()

    def read(self, data: bytes) -> Found:
        """Read bytes as the importer would pass them."""
        return self.reader.read(LogFile(self.path, data, beside=self.companions.get))

    def write(self, folder: Path, name: str, data: bytes) -> Path:
        """Write the sample and its companions into a folder."""
        for other, content in self.companions.items():
            place = folder / other
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        place = folder / name
        place.write_bytes(data)
        return place

    def test_the_sample_is_recognised_by_this_reader_alone(self) -> None:
        """`--format auto` requires that only one reader accepts a file."""
        known = {reader.name: reader for reader in all_readers()[0]} | {self.reader.name: self.reader}
        found = [name for name, reader in known.items() if reader.looks_like(self.path, self.sample[:HEAD])]
        assert found == [self.reader.name], f"recognised by {found}"

    def test_foreign_bytes_are_not_recognised(self) -> None:
        """No reader accepts empty, plain or binary files."""
        taken = [data[:20] for data in _FOREIGN if self.reader.looks_like("notes.txt", data)]
        assert not taken, f"{self.reader.name} claims {taken}"

    def test_the_sample_gives_its_runs_and_candidates(self) -> None:
        """Numbers are read as they are in the file."""
        found = self.read(self.sample)
        assert len(found.runs) == self.runs, f"expected {self.runs} runs, got {len(found.runs)}"
        assert not found.problems, found.problems
        assert _candidates(found.runs[0]) == list(self.candidates)

    def test_runs_are_well_formed(self) -> None:
        """Columns have one length, and verdicts, statuses, senses and clocks have known values."""
        for run in self.read(self.sample).runs:
            _check_run(run)

    def test_reading_twice_gives_the_same(self) -> None:
        """A reader keeps no state."""
        assert _content(self.read(self.sample)) == _content(self.read(self.sample))

    def test_line_endings_change_nothing(self) -> None:
        """Logs from Windows end their lines with CRLF."""
        if self.is_text:
            crlf = self.sample.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            assert _content(self.read(crlf)) == _content(self.read(self.sample))

    def test_colours_change_nothing(self) -> None:
        """Programs colour their lines for a terminal, and some also in files."""
        if self.is_text:
            lines = self.sample.split(b"\n")
            coloured = b"\n".join(b"\x1b[1;32m" + line[:4] + b"\x1b[0m" + line[4:] + b"\x1b[K" for line in lines)
            assert _content(self.read(coloured)) == _content(self.read(self.sample))
            assert self.reader.looks_like(self.path, LogFile(self.path, coloured).head[:HEAD])

    def test_packing_and_byte_order_marks_change_nothing(self, tmp_path: Path) -> None:
        """The importer unpacks .gz and removes marks; a reader sees the same bytes."""
        packings = {"plain": self.sample, "packed.gz": gzip.compress(self.sample)}
        if self.is_text:
            packings["marked"] = UTF_8_MARK + self.sample
            packings["utf16"] = self.sample.decode().encode("utf-16")
        for name, data in packings.items():
            log = load_file(self.write(tmp_path, name, data))
            assert log.data == self.sample, name

    def test_a_log_that_comes_in_pieces_is_the_same_log(self) -> None:
        """A large file is read in pieces that may end anywhere, and so are its companions."""
        for size in (7, 1000):

            def in_pieces(path: str, data: bytes | None, size: int = size) -> LogFile | None:
                if data is None:
                    return None
                half = max(len(data) // 2, 64)
                rest = (data[at : at + size] for at in range(half, len(data), size))
                companion = lambda name: nullcontext(in_pieces(name, self.companions.get(name)))  # noqa: E731
                return LogFile(path, data[:half], companion=companion, rest=rest)

            log = in_pieces(self.path, self.sample)
            assert log is not None
            assert _content(self.reader.read(log)) == _content(self.read(self.sample))

    def test_every_prefix_is_read_or_refused(self) -> None:
        """A file that is cut anywhere gives its remaining content, or one error; never a number that was not written.

        A cut number is another number (`951` is read as `9`): a reader that accepts it must report a problem there.
        """
        size = len(self.sample)
        cuts = range(size) if size <= 600 else sorted(random.Random(0).sample(range(size), 600))
        read = self.read(self.sample)
        whole = [candidate for run in read.runs for candidate in _candidates(run)]
        written = _numbers(read)
        for cut in cuts:
            found = self.attempt(self.sample[:cut])
            if found is None:
                continue
            for run in found.runs:
                _check_run(run)
            kept = [candidate for run in found.runs for candidate in _candidates(run)]
            made_up = _numbers(found) - written
            assert found.problems or not made_up, (
                f"cut at byte {cut}: {made_up} is not in the file, and no line is named"
            )
            if self.is_text and self.sample[cut - 1 : cut] == b"\n":
                assert kept == whole[: len(kept)], f"cut at byte {cut}: {kept[-1:]} is not in the whole file"

    def test_no_variant_is_better_than_the_best_incumbent_or_claims_more(self) -> None:
        """A log that is cut, lacks lines or mentions relaxations has no better value and proves no more."""
        if self.is_text:
            check_variants(self.attempt, self.sample, self.proofs)

    def test_mutated_bytes_give_an_error_or_a_counted_rejection(self) -> None:
        """A broken file raises no other errors than those of gapline."""
        draw = random.Random(1)
        for _ in range(_MUTATIONS):
            found = self.attempt(mutated(self.sample, draw))
            for run in found.runs if found else ():
                _check_run(run)

    def test_a_line_without_end_is_cut(self) -> None:
        """An endless line in the middle of a log must not fail the reader, nor keep it busy for minutes."""
        if not self.is_text:
            return
        for filler in (b"x", b"9", b" ", b"{[", b"\0"):
            dump = filler * (_LONG_LINE // len(filler))
            for data in (self.sample + dump, self.sample + dump + b"\n", dump + b"\n" + self.sample):
                self.attempt(data)
                self.reader.looks_like(self.path, data[:HEAD])

    def test_looking_at_a_head_full_of_noise_is_cheap(self) -> None:
        """A pattern that scans the same bytes again and again hangs here."""
        for filler in _NOISE:
            noise = filler * (HEAD // len(filler))
            for data in (noise, self.sample[:200] + noise, noise[: HEAD // 2] + self.sample):
                self.reader.looks_like(self.path, data[:HEAD])
                self.reader.is_companion(self.path, data[:HEAD])
                self.attempt(data)

    def test_the_import_makes_a_campaign_that_can_be_stored(self, tmp_path: Path) -> None:
        """A file is imported into a campaign directory and read back."""
        place = self.write(tmp_path, Path(self.path).name, self.sample)
        found = self.read(self.sample).runs
        campaign = import_logs(
            [place],
            format=self.reader,
            arm="arm" if any(run.arm is None for run in found) else None,
            instance="instance" if any(run.instance is None for run in found) else None,
            number_runs=True,
            horizon=1e6,
        ).campaign
        assert len(campaign) == self.runs
        stored = open_campaign(campaign.save(tmp_path / "campaign"))
        assert stored.digest() == campaign.digest()

    def attempt(self, data: bytes) -> Found | None:
        """Read broken bytes; return what was found, or None if the reader refused the file."""
        self.reader.looks_like(self.path, data[:HEAD])
        try:
            return self.read(data)
        except GaplineError:
            return None


def check_variants(read: Callable[[bytes], Found | None], sample: bytes, proofs: Sequence[bytes] = ()) -> None:
    """Assert that no prefix and no variant of a log gives a value better than its best incumbent, or a false claim.

    `proofs` are words of the lines that state a proof: a text without any of them claims no optimum.
    """
    whole = read(sample)
    assert whole is not None, "the sample was refused"
    senses = {run.sense for run in whole.runs}
    values = [value for run in whole.runs for _, value in _candidates(run)]
    for kind, data in _variants(sample, values, maximises=senses == {"max"}):
        found = read(data)
        for run in found.runs if found else ():
            has_proof = any(words in data for words in proofs)
            assert has_proof or run.carried.get("claim") != "optimal", f"{kind}: claims an optimum that nothing states"
            # Digits that only the last line has are lost when that line is cut.
            slack = max(float(run.carried.get("value_resolution") or 0.0), 1e-9 * max(map(abs, values), default=0.0))
            for _, value in _candidates(run):
                assert senses == {"max"} or value >= min(values, default=np.inf) - slack, f"{kind}: {value} is too good"
                assert senses != {"max"} or value <= max(values, default=-np.inf) + slack, (
                    f"{kind}: {value} is too good"
                )


def _variants(sample: bytes, values: Sequence[float], *, maximises: bool) -> Iterator[tuple[str, bytes]]:
    """Yield possible variants of a log: cut, without some lines, with repeated ones, with relaxations among them."""
    draw, lines = random.Random(2), sample.splitlines(keepends=True)
    places = range(len(lines)) if len(lines) <= _VARIANTS else sorted(draw.sample(range(len(lines)), _VARIANTS))
    reach = 1.0 + max(map(abs, values), default=1.0)
    better = max(values, default=0.0) + reach if maximises else min(values, default=0.0) - reach
    for at in places:
        yield f"cut before line {at + 1}", b"".join(lines[:at])
        yield f"without line {at + 1}", b"".join(lines[:at] + lines[at + 1 :])
        yield f"without lines {at + 1} to {at + 5}", b"".join(lines[:at] + lines[at + 5 :])
        yield f"line {at + 1} twice", b"".join(lines[: at + 1] + lines[at:])
        told = draw.choice(_RELAXATIONS).replace("{}", f"{better:.6g}")
        yield f"{told!r} before line {at + 1}", b"".join([*lines[:at], told.encode() + b"\n", *lines[at:]])
        yield f"cut after {told!r} in place of line {at + 1}", b"".join([*lines[:at], told.encode() + b"\n"])
    for at in sorted(draw.sample(range(len(sample)), min(len(sample), _VARIANTS))):
        yield f"cut at byte {at}", sample[:at]


def mutated(data: bytes, draw: random.Random) -> bytes:
    """Change a few places of a file: flip, drop, insert, repeat or swap lines, insert hostile numbers."""
    out = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(out) + 1)
        kind = draw.randrange(6)
        if kind == 0 and at < len(out):
            out[at] = draw.randrange(256)
        elif kind == 1:
            del out[at : at + draw.randint(1, 20)]
        elif kind == 2:
            out[at:at] = draw.randbytes(draw.randint(1, 8))
        elif kind == 3:
            out[at:at] = out[at : at + draw.randint(1, 80)]
        elif kind == 4:
            hostile = (b"nan", b"-inf", b"1e400", b"1_000", b"1,5", "٣".encode(), b"-1", b"9" * 500, b"\0", b'"', b"{")
            out[at:at] = draw.choice(hostile)
        else:
            lines = bytes(out).split(b"\n")
            draw.shuffle(lines)
            out = bytearray(b"\n".join(lines))
    return bytes(out)


def _candidates(run: FoundRun) -> list[tuple[float, float]]:
    time, objective = np.asarray(run.time, float), np.asarray(run.objective, float)
    valid = np.ones(len(time), bool) if run.verdict is None else np.asarray(run.verdict) == VerdictCode.VALID
    return list(zip(time[valid].tolist(), objective[valid].tolist(), strict=True))


def _numbers(found: Found) -> set[tuple[str, float]]:
    """Return times and values of the valid candidates, and the bounds, each with its kind."""
    candidates = [candidate for run in found.runs for candidate in _candidates(run)]
    bounds = [np.asarray(run.bound, float) for run in found.runs if run.bound is not None]
    return (
        {("time", time) for time, _ in candidates}
        | {("objective", value) for _, value in candidates}
        | {("bound", bound) for column in bounds for bound in column[np.isfinite(column)].tolist()}
    )


def _check_run(run: FoundRun) -> None:
    size = len(run.time)
    for name in ("objective", "verdict", "bound", "claimed", "primary", "secondary", "reason"):
        column = getattr(run, name)
        assert column is None or len(column) == size, f"{name} has {len(column)} entries, time has {size}"
    verdict = [] if run.verdict is None else np.unique(np.asarray(run.verdict)).tolist()
    assert set(verdict) <= {int(code) for code in VerdictCode}, f"verdicts {verdict}"
    assert run.status in set(RunStatus), f"status {run.status!r}"
    assert run.sense in ("min", "max", None), f"sense {run.sense!r}"
    assert isinstance(run.clock, str), f"clock {run.clock!r}"
    assert run.horizon is None or (np.isfinite(run.horizon) and run.horizon > 0), f"horizon {run.horizon}"
    assert run.seed is None or isinstance(run.seed, int), f"seed {run.seed!r}"
    assert run.resolution is None or run.resolution > 0, f"resolution {run.resolution}"
    for time, objective in _candidates(run):
        assert 0 <= time < np.inf, f"a valid candidate at time {time}"
        assert np.isfinite(objective), f"a valid candidate of objective {objective}"


def _content(found: Found) -> list[tuple[Any, ...]]:
    return [
        (run.arm, run.instance, run.seed, run.panel, run.horizon, run.status, run.sense, run.clock, _candidates(run))
        for run in found.runs
    ]
