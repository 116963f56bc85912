"""Outputs that pages quote: run every command of a page, compare what it prints with the page, write that anew.

A console block shows a command after `$ ` and, below it, what it prints; behind a Python block, a block `output` does.
`…` stands for whatever depends on the machine: inside a line for any text, alone on a line for any lines. Where what it
stands for is longer or shorter, a paragraph may break its lines elsewhere (those below its first are indented). A
command without a line below it prints what is of no interest here, and is run all the same; a single `?` asks for its
output to be filled in.
"""

import operator
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ANY = "…"
FILL = "?"
# A terminal of the usual width, in English, without colours: what a page quotes is the same wherever it is made.
TERMINAL = {"COLUMNS": "80", "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC", "PYTHONUNBUFFERED": "1"}
_MARK = "\x1e"
_FENCE = re.compile(r"^```(\w*)\s*$")
# How a sentence of the terminal goes on below its first line.
_CONTINUED = re.compile(r"  \S")
# Printed only where the machine disturbed a run, so it is in no quotation.
_DISTURBED = "note: measurement:"
_HERE = re.compile(r"<<-?'?(\w+)'?")


@dataclass(frozen=True, slots=True)
class Example:
    """A command or a block of Python, and which lines of the page quote what it prints: `first` up to `last`."""

    code: str
    first: int
    last: int
    language: str

    def quoted(self, lines: Sequence[str]) -> list[str]:
        """Return what the page shows of its output; an empty line before the next command is no part of it."""
        shown = list(lines[self.first : self.last])
        while shown and not shown[-1].strip():
            shown.pop()
        return shown


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the examples of a page: the exit code, and what each printed (none behind one that failed)."""

    code: int
    printed: tuple[tuple[str, ...], ...]


def pages() -> list[Path]:
    """Return the pages whose examples are run."""
    docs = ROOT / "docs"
    return [ROOT / "README.md", *sorted(docs.glob("*.md")), *sorted((docs / "start").glob("*.md"))]


def blocks(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield language, first and last line (exclusive) of what stands between the fences of a page."""
    start, language = None, ""
    for k, line in enumerate(lines):
        if start is None:
            if found := _FENCE.match(line):
                start, language = k + 1, found[1]
        elif line.rstrip() == "```":
            yield language, start, k
            start = None


def examples(lines: Sequence[str], language: str) -> list[Example]:
    """Return the examples of a page in one language, `console` or `python`, in order."""
    found = list(blocks(lines))
    if language == "python":
        return [
            _python(lines, first, last, found[k + 1] if k + 1 < len(found) else None)
            for k, (name, first, last) in enumerate(found)
            if name == "python"
        ]
    return [example for name, first, last in found if name == "console" for example in _commands(lines, first, last)]


def _python(lines: Sequence[str], first: int, last: int, following: tuple[str, int, int] | None) -> Example:
    code = "\n".join(lines[first:last])
    # What a block prints stands in the block behind it, with nothing in between.
    if following and following[0] == "output" and not any(line.strip() for line in lines[last + 1 : following[1] - 1]):
        return Example(code, following[1], following[2], "python")
    return Example(code, last, last, "python")


def _commands(lines: Sequence[str], first: int, last: int) -> Iterator[Example]:
    k = first
    while k < last:
        if not lines[k].startswith("$ "):
            raise ValueError(f"line {k + 1}: expected a command after `$ `, got {lines[k]!r}")
        code = [lines[k][2:]]
        here = _HERE.search(lines[k])
        k += 1
        # A document goes on to its word, a command to the first line that does not end in a backslash.
        while here or code[-1].endswith("\\"):
            code.append(lines[k])
            k += 1
            here = None if here and code[-1] == here[1] else here
        start = k
        while k < last and not lines[k].startswith("$ "):
            k += 1
        yield Example("\n".join(code), start, k, "console")


def run_examples(found: Sequence[Example], folder: Path) -> Outcome:
    """Run examples of one language one after another in a folder, as one script, and tell what each of them printed."""
    console = bool(found) and found[0].language == "console"
    mark = "printf '\\n%s\\n' '{}'" if console else "print('\\n' + '{}', flush=True)"
    parts = [f"{mark.format(_MARK + str(k))}\n{example.code}" for k, example in enumerate(found)]
    if console:
        command = ["bash", "-c", "\n".join(["set -euo pipefail", *parts])]
    else:
        command = [sys.executable, "-c", "\n".join(parts)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    # Cores are leased for the whole machine: two pages that run solvers would wait for each other, and say so.
    leases = os.environ.get("GAPLINE_LEASES", str(folder / ".leases"))
    environment = os.environ | TERMINAL | {"PATH": path, "GAPLINE_LEASES": leases}
    done = subprocess.run(
        command, cwd=folder, env=environment, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    text = done.stdout.decode(errors="replace").replace(str(folder), ANY)
    pieces = re.split(rf"\n{_MARK}\d+\n", text)[1:]
    return Outcome(done.returncode, tuple(map(_lines, pieces)))


def _lines(piece: str) -> tuple[str, ...]:
    """Return the lines of an output without empty ones at either end, and without disturbances of the machine."""
    lines = [line.rstrip() for line in piece.strip("\n").split("\n")] if piece.strip() else []
    return tuple(line for lines in _paragraphs(lines) if not lines[0].startswith(_DISTURBED) for line in lines)


def agrees(quoted: Sequence[str], printed: Sequence[str]) -> bool:
    """Say whether an output is what a page quotes.

    >>> agrees(["run 1 took … s", "…", "done"], ["run 1 took 0.3 s", "a", "b", "done"])
    True
    >>> agrees(["run 1 took … s"], ["run 2 took 0.3 s"])
    False
    """
    if _fits(quoted, printed, any_one=lambda line: line.strip() == ANY, same=_line_agrees):
        return True
    wanted, got = (_paragraphs(lines) for lines in (quoted, printed))
    return _fits(wanted, got, any_one=lambda lines: "".join(lines).strip() == ANY, same=_paragraph_agrees)


def _paragraphs(lines: Sequence[str]) -> list[tuple[str, ...]]:
    """Put each line together with those below it that are its own, which two spaces show."""
    found: list[tuple[str, ...]] = []
    for line in lines:
        if found and _CONTINUED.match(line) and ANY not in (line.strip(), *found[-1]):
            found[-1] = (*found[-1], line)
        else:
            found.append((line,))
    return found


def _paragraph_agrees(quoted: tuple[str, ...], printed: tuple[str, ...]) -> bool:
    if not any(ANY in line for line in quoted):
        return [line.rstrip() for line in quoted] == list(printed)
    return _line_agrees(" ".join(quoted), " ".join(printed))


def _line_agrees(line: str, printed: str) -> bool:
    if ANY not in line:
        return line.rstrip() == printed
    # Columns beside something of another width move: any run of spaces is as good as another, where a line has marks.
    words, said = (" ".join(text.split()) for text in (line, printed))
    return _fits(words, said, any_one=lambda letter: letter == ANY, same=operator.eq)


def _fits(
    wanted: Sequence[str], got: Sequence[str], *, any_one: Callable[[str], bool], same: Callable[[str, str], bool]
) -> bool:
    """Say whether a sequence is another one whose marks stand for any part; in the time of their product at most."""
    i = k = 0
    back: tuple[int, int] | None = None
    while k < len(got):
        if i < len(wanted) and any_one(wanted[i]):
            # First for nothing; where the rest does not fit, for one more.
            i, back = i + 1, (i + 1, k)
        elif i < len(wanted) and same(wanted[i], got[k]):
            i, k = i + 1, k + 1
        elif back is not None:
            i, k = back[0], back[1] + 1
            back = (i, k)
        else:
            return False
    return all(any_one(one) for one in wanted[i:])


def differences(lines: Sequence[str], found: Sequence[Example], outcome: Outcome) -> list[str]:
    """Name each example whose output is not what the page quotes."""
    said = []
    for example, printed in zip(found, outcome.printed, strict=False):
        quoted = example.quoted(lines)
        if quoted and not agrees(quoted, printed):
            head = example.code.partition("\n")[0]
            said.append("\n".join([f"line {example.first}: {head}", *(f"  - {line}" for line in quoted),
                                   *(f"  + {line}" for line in printed)]))  # fmt: skip
    return said


def renewed(quoted: Sequence[str], printed: Sequence[str], again: Sequence[str]) -> list[str]:
    """Return what a page should quote: what was printed, with a mark wherever a second run printed something else.

    Lines of the page that fit are kept as they are, with the marks that somebody put there.

    >>> renewed(["old", "host …"], ["took 1.5 s", "host a"], ["took 1.7 s", "host a"])
    ['took … s', 'host …']
    """
    if agrees(quoted, printed) and agrees(quoted, again):
        return list(quoted)
    if len(printed) != len(again):
        shared = [line for line in printed if line in again]
        return [*shared, ANY] if shared else [ANY]
    kept = [line for line in quoted if ANY in line and line != ANY]
    out = []
    for one, two in zip(printed, again, strict=True):
        fitting = next((line for line in kept if agrees([line], [one]) and agrees([line], [two])), None)
        out.append(fitting or _marked(one, two))
    return out


def _marked(one: str, two: str) -> str:
    """Return a line with a mark for each word in which two runs differ."""
    if one == two:
        return one
    words, others = re.split(r"(\s+)", one), re.split(r"(\s+)", two)
    if len(words) != len(others):
        return ANY
    return "".join(a if a == b else " " * len(a) if a.isspace() else ANY for a, b in zip(words, others, strict=True))


def refresh(page: Path) -> bool:
    """Run a page twice and write its quoted outputs anew; say whether it changed."""
    text = page.read_text(encoding="utf-8")
    lines = text.split("\n")
    wanted: list[tuple[int, int, list[str]]] = []
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        for language in ("console", "python"):
            found = examples(lines, language)
            outcomes = [run_examples(found, Path(folder)) for folder in (one, two)] if found else []
            for outcome in outcomes:
                if outcome.code:
                    last = "\n".join(outcome.printed[-1]) if outcome.printed else ""
                    raise RuntimeError(f"{page.name}: a command of it failed ({outcome.code}):\n{last}")
            for k, example in enumerate(found):
                if quoted := example.quoted(lines):
                    shown = renewed([] if quoted == [FILL] else quoted, *(outcome.printed[k] for outcome in outcomes))
                    # Set off from a command that follows.
                    wanted.append((example.first, example.last, shown + [""] * lines[example.last].startswith("$ ")))
    for start, end, shown in sorted(wanted, reverse=True):
        lines[start:end] = shown
    page.write_text("\n".join(lines), encoding="utf-8")
    return "\n".join(lines) != text
