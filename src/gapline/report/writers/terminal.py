"""Tables that fit a terminal: columns are dropped or wrapped, long names shortened."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from gapline.report.numbers import DASH
from gapline.report.table import Table
from gapline.terminal import cells, console, visible, wrapped
from gapline.terminal import width as terminal_width
from gapline.text import printable

MARK = "…"
# A longer list of names below a table is unreadable.
MOST_NAMES = 40
MOST_TRIED = 2_000


def short_names(names: Iterable[str], room: int) -> dict[str, str]:
    """Return a form of each name with at most `room` columns; two names never share one.

    >>> short_names(["tabu-search-with-restarts-v1", "tabu-search-with-restarts-v2", "greedy"], 12)
    {'tabu-search-with-restarts-v1': 'tabu-s…ts-v1', 'tabu-search-with-restarts-v2': 'tabu-s…ts-v2', 'greedy': 'greedy'}
    """
    wanted = list(dict.fromkeys(names))
    found = {name: name for name in wanted if cells(name) <= room}
    taken = set(found.values())
    long = [name for name in wanted if name not in found]
    # Choose the split that distinguishes most names, preferring the middle.
    middle = (room - 1) // 2
    tails = sorted(range(room), key=lambda tail: (abs(tail - middle), tail))
    # With very many names, only try the middle: trying every split would take too long.
    tails = tails if len(long) <= MOST_TRIED else tails[:1]
    best = max(tails, key=lambda tail: len({_cut(name, room, tail) for name in long} - taken)) if long else 0
    for name in long:
        short = _cut(name, room, best)
        number = 1
        while short in taken:
            number += 1
            # If no split distinguishes them, number them.
            end = f"{MARK}{number}"
            short = _head(name, max(0, room - cells(end))) + end
        taken.add(short)
        found[name] = short
    return {name: found[name] for name in wanted}


def _cut(name: str, room: int, tail: int) -> str:
    end = _head(name[::-1], tail)[::-1] if tail else ""
    return _head(name, max(0, room - 1 - cells(end))) + MARK + end


def _head(text: str, room: int) -> str:
    kept = text[:room]
    while cells(kept) > room:
        kept = kept[:-1]
    return kept


def legend_lines(shortened: Mapping[str, str], room: int, *, how: str = "") -> list[str]:
    """Return the full names behind the short ones; a name that fills a line has its own line or lines."""
    if not shortened:
        return []
    if len(shortened) > MOST_NAMES:
        return wrapped(f"{len(shortened):,} names are shortened{f'; {how}' if how else ''}", room, hang="  ")
    lines = ["names in full:"]
    for name, short in shortened.items():
        line = f"  {short} = {name}"
        lines += [line] if cells(line) <= room else [f"  {short} =", *wrapped(name, room)]
    return lines


GAP = 2
# How far names are shortened before a column is dropped: columns of a name, least `spare` that may be dropped.
STEPS = ((20, 3), (15, 2), (12, 1), (9, 1), (7, 1))
COMFORTABLE = STEPS[0][0]
# A text with this many words is prose, and is broken at its spaces.
PROSE = 5
PROSE_ROOM = 24
# A head is a word or two; longer words in it are shortened to this width.
HEAD_ROOM = 14
_LAST = 100
_DIGEST = re.compile("(sha256:[0-9a-f]{12})[0-9a-f]{52}")


class Span(NamedTuple):
    """A part of a line in one style: bold, dim, italic or none."""

    text: str
    style: str = ""


Line = tuple[Span, ...]


class Fit(NamedTuple):
    """The columns of a block: their numbers and their widths."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]


class _Sheet:
    """The widths of the texts of a table, measured once."""

    def __init__(self, table: Table, room: int) -> None:
        self.table, self.room = table, room
        self.heads = [printable(column.head) for column in table.columns]
        texts = [[printable(row[k].text) for row in table.rows] for k in range(len(self.heads))]
        words = [[text.split() for text in column] for column in texts]
        self.natural = [max(map(cells, column), default=0) for column in texts]
        self.longest = [max((cells(word) for text in column for word in text), default=0) for column in words]
        self.prose = [
            head.text and any(len(text) >= PROSE for text in column)
            for head, column in zip(table.columns, words, strict=True)
        ]
        self.silent = [bool(column) and all(text in ("", DASH) for text in column) for column in texts]

    def least(self, k: int, floor: int) -> int:
        """Return the least width of a column if its names keep `floor` columns."""
        text = self.table.columns[k].text
        body = self.natural[k]
        if text:
            body = min(body, max(floor, min(self.longest[k], PROSE_ROOM)) if self.prose[k] else floor)
        head = max(map(cells, self.heads[k].split()), default=0)
        return max(body, min(head, max(body, HEAD_ROOM if floor >= COMFORTABLE else min(HEAD_ROOM, floor))))

    def fit(self, columns: Sequence[int], floor: int) -> Fit | None:
        """Return the widths of these columns; None if they do not fit."""
        widths = {k: self.least(k, floor) for k in columns}
        left = self.room - sum(widths.values()) - GAP * (len(columns) - 1)
        if left < 0:
            return None
        # First widen columns so that heads take one line, then share the rest between names and prose, narrowest first.
        for k in columns:
            more = max(0, cells(self.heads[k]) - widths[k])
            if more <= left:
                widths[k] += more
                left -= more
        growing = [k for k in columns if self.table.columns[k].text and widths[k] < self.natural[k]]
        while left > 0 and growing:
            k = min(growing, key=lambda k: widths[k])
            widths[k] += 1
            left -= 1
            growing = [k for k in growing if widths[k] < self.natural[k]]
        return Fit(tuple(columns), tuple(widths[k] for k in columns))


def fitted_lines(
    table: Table, room: int, *, all_columns: bool = False, how: str = "", digests: bool = False
) -> list[Line]:
    """Return the lines of a table that is at most `room` columns wide.

    `how` tells how to see the other columns; `digests` requests them in full, which is wider than a terminal.
    """
    said = printable if digests else _short_digests
    sheet = _Sheet(table, room)
    fits = _stacked(sheet) if all_columns else _spared(sheet)
    lines: list[Line] = [(Span(line, "bold"),) for line in wrapped(said(table.caption), room, hang="  ")]
    shown = {k for fit in fits or () for k in fit.columns}
    gone = [sheet.heads[k] for k in range(len(sheet.heads)) if k not in shown] if fits else []
    if gone:
        words = f"left out at {room} columns: {', '.join(gone)}{f' ({how})' if how else ''}"
        lines += [(Span(line, "dim"),) for line in wrapped(words, room, hang="  ")]
    shortened: dict[str, str] = {}
    if fits is None:
        lines += _records(sheet)
    else:
        for number, fit in enumerate(fits):
            lines += [(Span(""),)] if number else []
            lines += _block(sheet, fit, shortened)
    below = legend_lines(shortened, room, how=how)
    notes = [line for note in table.notes for line in wrapped(said(note), room, hang="  ")]
    for group in (below, notes):
        lines += [(Span(""),), *((Span(line, "dim"),) for line in group)] if group else []
    return lines


def _spared(sheet: _Sheet) -> list[Fit] | None:
    """Drop columns until the rest fits; otherwise split all columns into blocks, if that is possible."""
    columns = list(range(len(sheet.heads)))
    # Columns without content are dropped first; a table of numbers alone keeps its first column.
    spares = {k: sheet.table.columns[k].expendable + _LAST * sheet.silent[k] for k in columns[1:]}
    going = sorted((k for k in spares if sheet.table.columns[k].expendable), key=lambda k: (spares[k], k))
    for floor, least in STEPS:
        while (fit := sheet.fit(columns, floor)) is None and going and spares[going[-1]] >= least:
            columns.remove(going.pop())
        if fit is not None:
            return [fit]
    return _stacked(sheet)


def _stacked(sheet: _Sheet) -> list[Fit] | None:
    """Split the columns into blocks below each other, each beginning with the columns that identify the rows."""
    columns = range(len(sheet.heads))
    whose = _identity(sheet)
    others = [k for k in columns if k not in whose]
    for floor, _ in STEPS:
        if any(sheet.fit([*whose, k], floor) is None for k in others) or sheet.fit(whose, floor) is None:
            continue
        blocks: list[list[int]] = [list(whose)]
        for k in others:
            if sheet.fit([*blocks[-1], k], floor) is None:
                blocks.append(list(whose))
            blocks[-1].append(k)
        fits = [fit for block in blocks if (fit := sheet.fit(block, floor)) is not None]
        # A name has the same form in every block, that of the narrowest.
        narrow = tuple(min(fit.widths[place] for fit in fits) for place in range(len(whose)))
        return [Fit(fit.columns, (*narrow, *fit.widths[len(whose) :])) for fit in fits]
    return None


def _identity(sheet: _Sheet) -> list[int]:
    """Return the columns that identify a row: those up to the last of the first columns of names."""
    found: list[int] = []
    for k, column in enumerate(sheet.table.columns):
        if column.text and not sheet.prose[k]:
            found = list(range(k + 1))
        elif found:
            break
    return found or [0]


def _block(sheet: _Sheet, fit: Fit, shortened: dict[str, str]) -> list[Line]:
    """Return the lines of some columns; names that had to be shortened are added to `shortened`."""
    table, places = sheet.table, list(zip(fit.columns, fit.widths, strict=True))
    names = _names(sheet, fit)
    heads = []
    for k, width in places:
        short = short_names(sheet.heads[k].split(), width)
        shortened |= {word: form for word, form in short.items() if form != word}
        heads.append(wrapped(" ".join(short[word] for word in sheet.heads[k].split()), width))
    deep = max(map(len, heads), default=0)
    # Align heads at the bottom, next to the rule.
    stacked = [[""] * (deep - len(head)) + head for head in heads]
    lines = [_line(sheet, fit, [Span(text) for text in texts]) for texts in zip(*stacked, strict=True)]
    lines.append((Span("─" * (sum(fit.widths) + GAP * (len(fit.widths) - 1))),))
    if not table.rows:
        lines.append((Span("none", "dim"),))
    for heading, rows in table.parts:
        if heading is not None and rows:
            lines += [(Span(line, "italic dim"),) for line in wrapped(printable(heading), sheet.room, hang="  ")]
        for row in rows:
            broken = []
            for k, width in places:
                text, known = printable(row[k].text), names.get(k, {})
                words = [text] if text in known else text.split()
                shortened |= {word: known[word] for word in words if known.get(word, word) != word}
                text = " ".join(known.get(word, word) for word in words) if known else text
                broken.append(wrapped(text, width) if sheet.prose[k] else [text])
            styles = ["bold" if row[k].bold else "" for k in fit.columns]
            for texts in zip_longest(*broken, fillvalue=""):
                lines.append(_line(sheet, fit, list(map(Span, texts, styles))))
    return lines


def _names(sheet: _Sheet, fit: Fit) -> dict[int, dict[str, str]]:
    """Return the form of each name in each column of words; columns of the same width use the same form."""
    by_width: dict[int, dict[str, None]] = {}
    places = [(k, w) for k, w in zip(fit.columns, fit.widths, strict=True) if sheet.table.columns[k].text]
    for k, width in places:
        found = by_width.setdefault(width, {})
        for row in sheet.table.rows:
            text = printable(row[k].text)
            found.update(dict.fromkeys(text.split() if sheet.prose[k] else [text]))
    short = {width: short_names(found, width) for width, found in by_width.items()}
    return {k: short[width] for k, width in places}


def _line(sheet: _Sheet, fit: Fit, cells_: Sequence[Span]) -> Line:
    """Join the cells of one line, words flush left and numbers flush right."""
    spans: list[Span] = []
    for place, (k, width, cell) in enumerate(zip(fit.columns, fit.widths, cells_, strict=True)):
        blank, gap = " " * (width - cells(cell.text)), " " * GAP if place else ""
        spans += [Span(gap), cell, Span(blank)] if sheet.table.columns[k].text else [Span(gap + blank), cell]
    while spans and not spans[-1].text.strip():
        spans.pop()
    return tuple(span for span in spans if span.text) or (Span(""),)


def _records(sheet: _Sheet) -> list[Line]:
    """Return each row as several lines: the head of a column, then its cell."""
    lines: list[Line] = []
    for heading, rows in sheet.table.parts:
        if heading is not None and rows:
            lines.append((Span(printable(heading), "italic dim"),))
        for row in rows:
            for head, cell in zip(sheet.heads, row, strict=True):
                words = wrapped(f"{head}: {printable(cell.text)}", sheet.room, hang="  ")
                lines += [(Span(line, "bold" if cell.bold else ""),) for line in words]
            lines.append((Span(""),))
    return lines[:-1] or [(Span("none", "dim"),)]


def _short_digests(text: str) -> str:
    """Return a text with digests shortened, as everywhere on a terminal; files have them in full."""
    return _DIGEST.sub(r"\1…", printable(text))


# Wider than any table: a file has no limit.
_UNBOUNDED = 1_000_000


class View(NamedTuple):
    """How to show tables: stacked with `all_columns`, else without columns that do not fit, and `how` to see them."""

    all_columns: bool = False
    how: str = "a wider terminal shows them"


PLAIN = View()


def to_text(table: Table) -> str:
    """Return a table as text for a file: every column, every name in full, no colours."""
    lines = fitted_lines(table, _UNBOUNDED, digests=True)
    return visible("\n".join("".join(span.text for span in line).rstrip() for line in lines))


def print_table(table: Table, view: View = PLAIN) -> None:
    """Print a table at the width of the terminal: caption above, the best in bold, notes below in small print."""
    from rich.text import Text as RichText

    out = console()
    for line in fitted_lines(table, terminal_width(), all_columns=view.all_columns, how=view.how):
        # As `Text`, never as a string: rich would interpret brackets in a name as markup.
        out.print(RichText.assemble(*((visible(span.text), span.style) for span in line)), soft_wrap=True)


def print_tables(tables: Iterable[Table], view: View = PLAIN) -> None:
    """Print tables below each other, separated by a blank line."""
    out = console()
    for number, table in enumerate(tables):
        if number:
            out.print()
        print_table(table, view)
