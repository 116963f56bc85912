"""The page of a chain of snapshots: who improved what, and when; offline and sealed like the report's."""

from functools import cache
from pathlib import Path
from typing import Any

from gapline.model.text import counted, printable
from gapline.model.version import VERSION
from gapline.reference.log import SnapshotLog, link_facts
from gapline.report.chain.data import before_first, chain_data, contributors
from gapline.report.drawing import write_file
from gapline.report.page.seal import joined_script, read_part, script_json, seal_page

_ROOM = "gapline.report.chain"
# Those of the report's page that draw and print, then our own.
_SHARED = (
    "format", "inflate", "decode", "looks", "light", "charts", "pointer", "curve_charts", "tables", "means", "empty",
)  # fmt: skip
# Longer lists are cut, and say by how much: the page stays small whatever the store.
MOST_ROWS = 100


def write_chain(log: SnapshotLog, path: Path | str, /) -> Path:
    """Write the page; it appears as a whole or not at all."""
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
    """Return the page's own script: its files, joined."""
    shared = [read_part(f"script/{name}.js") for name in _SHARED]
    return joined_script([*shared, read_part("chain.js", room=_ROOM)])


def _words(log: SnapshotLog) -> dict[str, Any]:
    newest = log.links[0].snapshot
    people = contributors(log)
    return {
        "version": VERSION,
        "title": printable(newest.name),
        "facts": f"{counted(len(log.links), 'snapshot')} · {counted(len(newest), 'instance')} · {newest.digest}",
        "cards": _cards(log, people),
        "snapshots": [_row(link_facts(link)) for link in log.links[:MOST_ROWS]],
        "more_snapshots": max(0, len(log.links) - MOST_ROWS),
        "people": [(printable(who)[:200], *rest) for who, *rest in people[:MOST_ROWS]],
        "more_people": max(0, len(people) - MOST_ROWS),
        "alarms": [printable(alarm) for alarm in log.alarms[:MOST_ROWS]],
        "more_alarms": max(0, len(log.alarms) - MOST_ROWS),
    }


def _cards(log: SnapshotLog, people: list[tuple[str, int, int, str]]) -> list[dict[str, str]]:
    newest, oldest = log.links[0].snapshot, log.links[-1].snapshot
    changed = [steps for steps in log.steps.values() if any("improved" in step.change for step in steps)]
    certified = sum(entry.certified for entry in newest.values.values())
    first = oldest.as_of or oldest.created or "undated"
    lead = f"most: {printable(people[0][0])[:80]}" if people else "nobody yet"
    cards = (
        ("Instances improved", f"{len(changed):,} of {len(log.steps):,}", f"since {printable(oldest.name)} ({first})"),
        ("Certified", f"{certified:,} of {len(newest):,}", f"in {printable(newest.name)}"),
        ("Improvements", f"{sum(number for _, number, *_ in people):,}", lead),
        (
            "Contradictions",
            f"{len(log.alarms):,}",
            "see the alarms below" if log.alarms else "no certificate is contradicted",
        ),
    )
    return [{"title": title, "value": value, "note": note} for title, value, note in cards]


def _row(facts: dict[str, Any]) -> list[str]:
    changes = facts["changes"]
    store = facts["store"]
    counts = [
        f"{changes[name]:,}" if changes else "–" for name in ("improved", "added", "worsened", "certified", "withdrawn")
    ]
    return [
        printable(facts["name"]),
        facts["as_of"] or "–",
        (facts["created"] or "–")[:10],
        f"{facts['instances']:,}",
        f"{facts['certified']:,}",
        *counts,
        printable(f"{store['name']} {(store.get('version') or '')[:12]}".strip()),
        facts["digest"][:19] + "…",
    ]
