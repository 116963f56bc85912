"""A campaign directory with parts that was damaged is refused by name, or scores to the very same bits."""

import random
import shutil
from pathlib import Path

import gapline as gl
from gapline.campaign.partitions import Part, save_parts
from torture.campaigns import DAMAGES, FILES, OF_ANY_FILE, Damage, build, damaged_in_turn
from torture.commands import Commands, scored

PARTS = ("part-0000", "part-0001", "part-0002")


def build_parts(folder: Path) -> Path:
    """Write the campaign of `torture.campaigns` in three parts: an arm, and the other one by instance."""
    whole = gl.open(build(folder.with_name("whole")))
    chosen = [whole.filter(arm="a"), *(whole.filter(arm="b", instance=name) for name in ("i", "j"))]
    save_parts([Part(part.compact()) for part in chosen], folder)
    shutil.move(folder.with_name("whole") / "references.json", folder)
    shutil.rmtree(folder.with_name("whole"))
    return folder


def _remove(folder: Path, draw: random.Random) -> str:
    name = draw.choice(PARTS)
    shutil.rmtree(folder / name)
    return name


def _rename(folder: Path, draw: random.Random) -> str:
    name = draw.choice(PARTS)
    (folder / name).rename(folder / draw.choice(["part-0003", "part-9", "aside"]))
    return name


def _swap(folder: Path, draw: random.Random) -> str:
    one, other = draw.sample(PARTS, 2)
    (folder / one).rename(folder / "aside")
    (folder / other).rename(folder / one)
    (folder / "aside").rename(folder / other)
    return one


def _copy(folder: Path, draw: random.Random) -> str:
    """Put a copy of a part beside it, or in the place of another one."""
    one, other = draw.sample([*PARTS, "part-0003"], 2)
    if not (folder / one).exists():
        one, other = other, one
    shutil.rmtree(folder / other, ignore_errors=True)
    shutil.copytree(folder / one, folder / other)
    return other


def _exchange_files(folder: Path, draw: random.Random) -> str:
    one, other = draw.sample(PARTS, 2)
    name = draw.choice(sorted(path.name for path in (folder / one).iterdir()))
    first, second = folder / one / name, folder / other / name
    data = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(data)
    return name


def _stray(folder: Path, draw: random.Random) -> str:
    place = draw.choice([folder, *(folder / name for name in PARTS)])
    names = ["primary.npy", "secondary.npy"] + ([] if place == folder else ["notes.txt", "references.json"])
    path = place / draw.choice(names)
    path.write_bytes((folder / "part-0000" / "time.npy").read_bytes())
    return path.name


OF_PARTS: tuple[Damage, ...] = (_remove, _rename, _swap, _copy, _exchange_files, _stray)


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Damage a campaign in parts `count` times and score it; a wrong outcome is an `AssertionError`."""
    return damaged_in_turn(count, seed, build_parts(scratch / "campaign"), scratch / "aside", _outcome)


def _outcome(folder: Path, expected: str, seed: int, number: int, commands: Commands) -> str:
    draw = random.Random(f"{seed} {number}")
    place, damages = draw.choice([(folder / draw.choice(PARTS), DAMAGES), (folder, OF_ANY_FILE), (folder, OF_PARTS)])
    damage = draw.choice(damages)
    name = damage(place, draw)
    case = f"seed {seed}, case {number} ({damage.__name__.strip('_')} of {place.name}/{name})"
    got = scored(commands, folder, case, names=(*FILES, *PARTS, name, "expected a reference"))
    assert got in (None, expected), f"{case}: another score, with exit 0"
    return "refused" if got is None else "the same score"
