"""What the commands of `gapline snapshot` share: their options, and how a snapshot is told in words."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.terminal import cells, say, width
from gapline.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gapline.references.alarms import Alarm
    from gapline.references.freeze import Moved
    from gapline.references.snapshot import Snapshot

NAME = click.option("--name", required=True, help="Name of the new snapshot.")
OUT = click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File to write.")
TOLERANCE = click.option("--tolerance", default=1e-9, show_default=True, help="Relative difference that is no news.")
AS_OF = click.option("--as-of", help="When the values were known, as ISO 8601.")
SENSE = click.option("--sense", type=click.Choice(["min", "max"]), help="Direction of the stored values.")
FAMILY = click.option("--family", help="Folder of the family inside a git store.")
CLONES = click.option(
    "--clones", type=click.Path(file_okay=False), help="Folder of clones of a git store's submodules."
)
VALIDATION = click.option(
    "--validation",
    type=click.Choice(["checker", "solver"]),
    default="checker",
    show_default=True,
    help="Whose word on a candidate counts.",
)


def facts(snapshot: "Snapshot") -> dict[str, Any]:
    """Return what a snapshot says of itself, its values counted."""
    counts = {"instances": len(snapshot), "certified": sum(entry.certified for entry in snapshot.values.values())}
    rest = {name: getattr(snapshot, name) for name in ("as_of", "objective", "checker", "parent")}
    store = {"store": snapshot.store.model_dump(exclude_unset=True)}
    return {"name": snapshot.name, "digest": snapshot.digest} | counts | rest | store


def print_facts(snapshot: "Snapshot") -> None:
    """Print the facts of a snapshot, one on a line."""
    told = facts(snapshot)
    store = told.pop("store")
    parts = [f"{one['name']} {one.get('version') or ''}".strip() for one in store.pop("stores", ())]
    told |= {f"store {name}": fact or None for name, fact in store.items()}
    told |= {f"store {number}": part for number, part in enumerate(parts, start=1)}
    for name, fact in told.items():
        if fact is not None:
            line = f"{name:<14} {printable(fact)}"
            # A digest is wider than a narrow terminal: then it has a line to itself, and can be copied whole.
            say(line if cells(line) <= width() else f"{name}\n{printable(fact)}")


def alarms(found: "Iterable[Alarm]") -> dict[str, Any]:
    """Return alarms for JSON."""
    return {"alarms": [alarm.document() for alarm in found]}


def value(number: float | None, certified: bool) -> str:
    """Word a value and whether it is certified."""
    return ("none" if number is None else repr(number)) + (" certified" if certified else "")


def moved(one: "Moved") -> dict[str, Any]:
    """Return a value that a checker prices otherwise, for JSON."""
    return asdict(one)


def moved_words(one: "Moved") -> str:
    """Word a value that a checker prices otherwise."""
    now = "infeasible" if one.repriced is None else repr(one.repriced)
    why = f" ({printable(one.reason)})" if one.reason else ""
    return f"{printable(one.instance)}: stored {one.stored!r}, now {now}{why}"
