"""Names that are too long for their place: shortened in the middle, told apart still, and written out below."""

from collections.abc import Iterable, Mapping

from gapline.terminal import cells, wrapped

MARK = "…"
# Of more names than this nobody reads a list below a table.
MOST_NAMES = 40
MOST_TRIED = 2_000


def short_names(names: Iterable[str], room: int) -> dict[str, str]:
    """Return a form of each name that has at most `room` columns; two names never share one.

    >>> short_names(["tabu-search-with-restarts-v1", "tabu-search-with-restarts-v2", "greedy"], 12)
    {'tabu-search-with-restarts-v1': 'tabu-s…ts-v1', 'tabu-search-with-restarts-v2': 'tabu-s…ts-v2', 'greedy': 'greedy'}
    """
    wanted = list(dict.fromkeys(names))
    found = {name: name for name in wanted if cells(name) <= room}
    taken = set(found.values())
    long = [name for name in wanted if name not in found]
    # The split that tells most of them apart, the one in the middle first.
    middle = (room - 1) // 2
    tails = sorted(range(room), key=lambda tail: (abs(tail - middle), tail))
    # Of very many names the middle must do: every split of each of them would take longer than the reading.
    tails = tails if len(long) <= MOST_TRIED else tails[:1]
    best = max(tails, key=lambda tail: len({_cut(name, room, tail) for name in long} - taken)) if long else 0
    for name in long:
        short = _cut(name, room, best)
        number = 1
        while short in taken:
            number += 1
            # No split tells them apart: they are numbered.
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
    """Return the whole names behind the short ones; a name that fills a line has it to itself, or several."""
    if not shortened:
        return []
    if len(shortened) > MOST_NAMES:
        return wrapped(f"{len(shortened):,} names are shortened{f'; {how}' if how else ''}", room, hang="  ")
    lines = ["names in full:"]
    for name, short in shortened.items():
        line = f"  {short} = {name}"
        lines += [line] if cells(line) <= room else [f"  {short} =", *wrapped(name, room)]
    return lines
