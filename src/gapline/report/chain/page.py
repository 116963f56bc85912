"""The page of a chain of snapshots: who improved which value, and when."""

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gapline.contract.version import VERSION
from gapline.references.history import SnapshotLog, Step, link_facts
from gapline.references.snapshot import parse_moment
from gapline.report.drawing import write_file
from gapline.report.looks import COLOURS
from gapline.report.page.encode import compress_json
from gapline.report.page.seal import join_scripts, read_part, script_json, seal_page
from gapline.text import counted, printable

# A store may have thousands of commits, and a value a long source: leave out older commits and the ends of sources.
MOST_COMMITS, MOST_LETTERS = 400, 200
COUNTED = ("improved", "added", "worsened", "certified", "withdrawn")


class ChainData(NamedTuple):
    """The head of the page (events, colours, what was left out) and its steps, compressed."""

    head: dict[str, Any]
    steps: str


def chain_data(log: SnapshotLog) -> ChainData:
    """Return the data of a page; the same log always gives the same bytes."""
    places, events, left_out = _events(log)
    # Store texts by number, since most of them repeat.
    texts: dict[str, dict[str, int]] = {name: {} for name in ("change", "who", "source")}
    columns: dict[str, list[Any]] = {name: [] for name in ("event", "value", "certified", *texts)}
    names, counts, dropped = [], [], 0
    for instance, steps in log.steps.items():
        kept = [step for step in reversed(steps) if _key(step) in places]
        dropped += len(steps) - len(kept)
        names.append(instance)
        counts.append(len(kept))
        for step in kept:
            columns["event"].append(places[_key(step)])
            columns["value"].append(step.value)
            columns["certified"].append(int(step.certified))
            for name, known in texts.items():
                text = getattr(step, name)
                short = text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"
                columns[name].append(known.setdefault(short, len(known)))
    listed = {f"{name}s": list(known) for name, known in texts.items()}
    document = {"instances": names, "counts": counts} | columns | listed
    dated = all(event["time"] is not None for event in events)
    head = {"events": events, "dated": dated, "colours": list(COLOURS), "leftOut": left_out, "dropped": dropped}
    return ChainData(head, compress_json(document))


def before_first(log: SnapshotLog) -> SnapshotLog:
    """Leave out commits after the first snapshot: if a fold used their values, its own step says so."""
    first = log.links[-1].snapshot.as_of
    if first is None:
        return log
    last = parse_moment(first)
    steps = {
        name: tuple(s for s in found if s.commit is None or s.as_of is None or parse_moment(s.as_of) <= last)
        for name, found in log.steps.items()
    }
    return replace(log, steps=steps)


def contributors(log: SnapshotLog) -> list[tuple[str, int, int, str]]:
    """Return the contributors: number of improvements, instances, and the last snapshot; most improvements first."""
    improvements: Counter[str] = Counter()
    instances: dict[str, set[str]] = {}
    last: dict[str, Step] = {}
    for instance, steps in log.steps.items():
        for step in steps:
            # The first value of an instance improves nothing.
            if "improved" not in step.change and "added" not in step.change:
                continue
            improvements[step.who] += 1
            instances.setdefault(step.who, set()).add(instance)
            if step.who not in last or (step.as_of or "") > (last[step.who].as_of or ""):
                last[step.who] = step
    order = sorted(improvements, key=lambda who: (-improvements[who], who))
    return [(who, improvements[who], len(instances[who]), last[who].where) for who in order]


def _events(log: SnapshotLog) -> tuple[dict[str, int], list[dict[str, Any]], int]:
    """Return the position of each snapshot and commit, the events, oldest first, and the count of omitted commits."""
    commits: dict[str, Step] = {}
    counts: dict[str, Counter[str]] = {}
    for steps in log.steps.values():
        for step in steps:
            if step.commit is not None:
                commits.setdefault(step.commit, step)
            counts.setdefault(_key(step), Counter()).update(kind for kind in COUNTED if kind in step.change.split(", "))
    ordered = sorted(commits.values(), key=lambda step: (step.as_of or "", step.commit or ""))
    shown = ordered[-MOST_COMMITS:]
    events = [_event(s.where, s.as_of, s.when, counts[_key(s)], commit=s.commit, by=s.committer) for s in shown]
    keys = [_key(step) for step in shown]
    for link in reversed(log.links):
        one = link.snapshot
        events.append(_event(one.name, one.as_of, one.created, counts.get(one.digest, Counter()), digest=one.digest))
        keys.append(one.digest)
    return {key: place for place, key in enumerate(keys)}, events, len(ordered) - len(shown)


def _event(name: str, as_of: str | None, when: str | None, counts: Counter[str], **more: Any) -> dict[str, Any]:
    known = as_of or when
    time = None if known is None else round(1000 * parse_moment(known).timestamp())
    return {"name": name, "asOf": as_of, "when": when, "time": time} | {kind: counts[kind] for kind in COUNTED} | more


def _key(step: Step) -> str:
    return step.commit or str(step.digest)


_ROOM = "gapline.report.chain"
# Scripts of the report's page that draw and print, followed by those of this page.
_SHARED = (
    "format", "inflate", "decode", "looks", "light", "charts", "pointer", "curve_charts", "tables", "means", "empty",
)  # fmt: skip
# Longer lists are truncated, with a note: the page stays small for any store.
MOST_ROWS = 100


def write_chain(log: SnapshotLog, path: Path | str, /) -> Path:
    """Write the page atomically."""
    write_file(Path(path), build_chain(log))
    return Path(path)


def build_chain(log: SnapshotLog, /) -> str:
    """Return the page as text."""
    shown = before_first(log)
    data = chain_data(shown)
    return seal_page(
        read_part("chain.html.j2", room=_ROOM),
        style=read_part("page.css"),
        script=chain_script(),
        head=script_json(data.head),
        steps=data.steps,
        **_words(shown) | {"notes": [printable(note) for note in log.notes()]},
    )


@cache
def chain_script() -> str:
    """Return the script of this page: its files, joined."""
    shared = [read_part(f"script/{name}.js") for name in _SHARED]
    return join_scripts([*shared, read_part("chain.js", room=_ROOM)])


def _words(log: SnapshotLog) -> dict[str, Any]:
    newest = log.links[0].snapshot
    people = contributors(log)
    more = {"snapshots": len(log.links), "people": len(people), "alarms": len(log.alarms)}
    return {
        "version": VERSION,
        "title": printable(newest.name),
        "facts": f"{counted(len(log.links), 'snapshot')} · {counted(len(newest), 'instance')} · {newest.digest}",
        "cards": _cards(log, people),
        "snapshots": [_row(link_facts(link)) for link in log.links[:MOST_ROWS]],
        "people": [(printable(who)[:200], *rest) for who, *rest in people[:MOST_ROWS]],
        "alarms": [printable(alarm) for alarm in log.alarms[:MOST_ROWS]],
        **{f"more_{name}": max(0, number - MOST_ROWS) for name, number in more.items()},
    }


def _cards(log: SnapshotLog, people: list[tuple[str, int, int, str]]) -> list[dict[str, str]]:
    newest, oldest = log.links[0].snapshot, log.links[-1].snapshot
    changed = [steps for steps in log.steps.values() if any("improved" in step.change for step in steps)]
    certified = sum(entry.certified for entry in newest.values.values())
    first = oldest.as_of or oldest.created or "undated"
    lead = f"most: {printable(people[0][0])[:80]}" if people else "nobody yet"
    alarms = "see the alarms below" if log.alarms else "no certificate is contradicted"
    cards = (
        ("Instances improved", f"{len(changed):,} of {len(log.steps):,}", f"since {printable(oldest.name)} ({first})"),
        ("Certified", f"{certified:,} of {len(newest):,}", f"in {printable(newest.name)}"),
        ("Improvements", f"{sum(number for _, number, *_ in people):,}", lead),
        ("Contradictions", f"{len(log.alarms):,}", alarms),
    )
    return [{"title": title, "value": value, "note": note} for title, value, note in cards]


def _row(facts: dict[str, Any]) -> list[str]:
    changes, store = facts["changes"], facts["store"]
    counts = [f"{changes[name]:,}" if changes else "–" for name in COUNTED]
    dates = [facts["as_of"] or "–", (facts["created"] or "–")[:10]]
    held = [f"{facts[name]:,}" for name in ("instances", "certified")]
    origin = printable(f"{store['name']} {(store.get('version') or '')[:12]}".strip())
    return [printable(facts["name"]), *dates, *held, *counts, origin, facts["digest"][:19] + "…"]
