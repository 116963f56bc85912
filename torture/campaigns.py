"""A stored campaign that was damaged is refused by name, or scores to the very same bits; it is never believed.

Whoever makes all digests fit again has made another campaign, which is not what is tried here.
"""

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import gapline as gl
from torture.commands import Commands, scored
from torture.flips import flip

COLUMNS = ("time", "objective", "verdict", "claimed", "reason", "bound")
FILES = ("manifest.json", "runs.parquet", "references.json", *(f"{name}.npy" for name in COLUMNS))
# What a hand or a program may put in the place of a value in JSON.
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 10**30, -(10**400), 1e308, float("nan"), float("-inf"), "", "0", "x" * 5000,
    "sha256:" + 64 * "0", "gapline.campaign/²", "gapline.campaign/0", "../../etc/passwd", "\ud800", [], {}, [[]],
    [None], {"": None}, {"runs.parquet": 3}, ["a", "b", "c"], [["a", "b"]],
)  # fmt: skip

_JSON = ("manifest.json", "manifest.json", "references.json")

Damage = Callable[[Path, random.Random], str]


def build(folder: Path) -> Path:
    """Write the campaign that is damaged: two arms, runs that found nothing, every kind of column, references."""
    draw = random.Random(1)
    rows: list[dict[str, Any]] = []
    for arm in ("a", "b"):
        for instance in ("i", "j"):
            for seed in (1, 2):
                run = {"arm": arm, "instance": instance, "seed": seed, "panel": instance, "horizon": 10.0}
                value = 40.0
                for k in range(draw.randint(3, 9)):
                    value -= draw.random() * 3
                    valid = draw.random() < 0.8
                    rows.append(run | {
                        "time": k + draw.random(), "objective": value, "valid": valid, "claimed": value - 0.5,
                        "reason": "" if valid else draw.choice(["odd", "late"]), "bound": 1.0 + k / 10,
                    })  # fmt: skip
        rows.append({"arm": arm, "instance": "j", "seed": 3, "panel": "j", "horizon": 10.0, "valid": True})
    gl.read(rows).save(folder)
    gl.Snapshot.from_values({"i": 10.0, "j": 11.0}, name="known").save(folder / "references.json")
    return folder


def _there(folder: Path) -> list[str]:
    """Return the files that can be damaged: a part has no references, and beside the parts are no columns."""
    return [name for name in FILES if (folder / name).exists()]


def _array(folder: Path, draw: random.Random, change: Callable[[Any], Any], names: tuple[str, ...] = COLUMNS) -> str:
    path = folder / f"{draw.choice(names)}.npy"
    np.save(path, change(np.load(path)), allow_pickle=True)
    return path.name


def _halve(folder: Path, draw: random.Random) -> str:
    return _array(folder, draw, lambda column: column / 2, ("time", "objective", "bound", "claimed"))


def _retype(folder: Path, draw: random.Random) -> str:
    kind = draw.choice(["f4", "i8", ">f8", "c16", "U8", "O", "V8", "M8[s]", "?"])
    return _array(folder, draw, lambda column: np.zeros(len(column), kind) if kind == "V8" else column.astype(kind))


def _reshape(folder: Path, draw: random.Random) -> str:
    shape = draw.choice([(-1, 1), (1, -1), (1, 1, -1)])
    return _array(folder, draw, lambda column: column.reshape(shape))


def _reorder(folder: Path, draw: random.Random) -> str:
    return _array(folder, draw, lambda column: column[::-1].copy(), ("time", "objective", "verdict", "claimed"))


def _swap_columns(folder: Path, draw: random.Random) -> str:
    one, other = (folder / f"{name}.npy" for name in draw.sample(["time", "objective", "claimed", "bound"], 2))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return one.name


def _change_runs(folder: Path, draw: random.Random) -> str:
    path = folder / "runs.parquet"
    runs = pl.read_parquet(path)
    changes: list[Callable[[], pl.DataFrame]] = [
        lambda: runs.with_columns(arm=pl.col("arm").replace({"a": "b", "b": "a"})),
        lambda: runs.with_columns(instance=pl.col("instance").reverse()),
        lambda: runs.with_columns(first=pl.col("first").shuffle(seed=3)),
        lambda: runs.with_columns(first=pl.col("first").reverse(), count=pl.col("count").reverse()),
        lambda: runs.with_columns(horizon=pl.col("horizon") * 2),
        lambda: runs.with_columns(count=-pl.col("count")),
        lambda: runs.with_columns(seed=pl.col("seed").cast(pl.String) + "x"),
        lambda: runs.with_columns(arm=pl.lit(None, pl.String)),
        lambda: runs.head(3),
        lambda: pl.concat([runs, runs]),
        lambda: runs.drop("arm"),
        lambda: runs.select(runs.columns[0]),
        pl.DataFrame,
    ]
    draw.choice(changes)().write_parquet(path)
    return path.name


def _digests(folder: Path, draw: random.Random) -> str:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    zero = "sha256:" + 64 * "0"
    manifest["files"] = dict.fromkeys(manifest["files"], zero) if draw.random() < 0.7 else {}
    for name in draw.sample(["digest", "seal", "files"], draw.randint(0, 3)):
        if draw.random() < 0.5:
            manifest.pop(name)
        elif name != "files":
            manifest[name] = zero
    if draw.random() < 0.5:
        _halve(folder, draw)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    return path.name


def _json(folder: Path, draw: random.Random) -> str:
    """Change, drop, add or double something anywhere in a JSON file."""
    path = folder / draw.choice([name for name in _JSON if (folder / name).exists()])
    document = json.loads(path.read_text(encoding="utf-8"))
    for _ in range(draw.choice([1, 1, 1, 2, 5])):
        _mutate(document, draw)
    if draw.random() < 0.05:
        document = draw.choice(VALUES)
    text = json.dumps(document, ensure_ascii=draw.random() < 0.9 or "\\ud800" in json.dumps(document))
    if draw.random() < 0.03:
        text = text[:-1] + ',"x":' + "[" * 100_000 + "]" * 100_000 + "}"
    path.write_text(text, encoding="utf-8")
    return path.name


def _mutate(node: Any, draw: random.Random) -> None:
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(node[key], dict | list) and node[key] and draw.random() < 0.6:
            node = node[key]
            continue
        what = draw.random()
        if what < 0.2:
            del node[key]
        elif what < 0.3 and isinstance(node, dict):
            node[str(key) + draw.choice(["", " ", "x"])] = draw.choice(VALUES)
        else:
            node[key] = draw.choice(VALUES)
        return


def _length(folder: Path, draw: random.Random) -> str:
    path = folder / draw.choice(_there(folder))
    data = path.read_bytes()
    cut = draw.randrange(len(data))
    path.write_bytes(draw.choice([data[:cut], b"", data + bytes(draw.randint(1, 99)), data + data, data[cut:]]))
    return path.name


def _flips(folder: Path, draw: random.Random) -> str:
    path = folder / draw.choice(_there(folder))
    path.write_bytes(flip(path.read_bytes(), draw, times=draw.choice([1, 1, 1, 3, 20])))
    return path.name


def _replace(folder: Path, draw: random.Random) -> str:
    """Put something else than a file of ours in the place of one."""
    path = folder / draw.choice(_there(folder))
    data = path.read_bytes()
    path.unlink()
    kind = draw.choice(["nothing", "directory", "fifo", "loop", "device", "unreadable", "link", "socket"])
    if kind == "directory":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "loop":
        path.symlink_to(path.name)
    elif kind == "device":
        path.symlink_to(draw.choice(["/dev/zero", "/dev/null", "/dev/full", "/dev/tty", "/dev/urandom"]))
    elif kind == "link":
        path.symlink_to(draw.choice([name for name in FILES if name != path.name]))
    elif kind == "unreadable":
        path.write_bytes(data)
        path.chmod(0)
    elif kind == "socket":
        import socket

        # By its short name: the address of a socket is bounded.
        here = os.open(folder, os.O_RDONLY)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)
    return path.name


def _add(folder: Path, draw: random.Random) -> str:
    path = folder / f"{draw.choice(['primary', 'secondary'])}.npy"
    np.save(path, np.zeros(len(np.load(folder / "time.npy"))))
    return path.name


DAMAGES: tuple[Damage, ...] = (
    _halve, _retype, _reshape, _reorder, _swap_columns, _change_runs, _digests, _length, _replace, _add,
    _flips, _flips, _flips, _json, _json, _json,
)  # fmt: skip
# Those that need no columns.
OF_ANY_FILE: tuple[Damage, ...] = (_length, _replace, _flips, _json)


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Damage a campaign `count` times and score it; a wrong outcome is an `AssertionError` with seed and case."""
    return damaged_in_turn(count, seed, build(scratch / "campaign"), scratch / "aside", _outcome)


def damaged_in_turn(
    count: int, seed: int, folder: Path, aside: Path, outcome: Callable[[Path, str, int, int, Commands], str]
) -> dict[str, int]:
    """Count the outcomes of damages to a campaign that is put back after each of them."""
    found: Counter[str] = Counter()
    with Commands() as commands:
        expected = scored(commands, folder, "the campaign as it was written")
        assert expected is not None
        for number in range(count):
            # The same path each time, so that outputs can be compared as they are.
            shutil.copytree(folder, aside)
            try:
                found[outcome(folder, expected, seed, number, commands)] += 1
            finally:
                shutil.rmtree(folder)
                aside.rename(folder)
    return dict(found)


def _outcome(folder: Path, expected: str, seed: int, number: int, commands: Commands) -> str:
    draw = random.Random(f"{seed} {number}")
    damage = draw.choice(DAMAGES)
    name = damage(folder, draw)
    case = f"seed {seed}, case {number} ({damage.__name__.strip('_')} of {name})"
    got = scored(commands, folder, case, names=(*FILES, name, "expected a reference"))
    assert got in (None, expected), f"{case}: another score, with exit 0"
    return "refused" if got is None else "the same score"
