"""Parse `--on`: the place where cells run."""

import re
from dataclasses import dataclass, field

from gapline.errors import UsageError
from gapline.text import meant

KINDS = ("local", "dask", "slurm", "oar", "submitit")
# Limit for jobs of a batch system, waiting or running, unless `jobs=N` is given.
MOST_JOBS = 500


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed `--on`: `kind` is one of `KINDS`, `address` a scheduler's or the name of a submitit executor."""

    kind: str
    jobs: int | None = None
    address: str = ""
    options: dict[str, str | int] = field(default_factory=dict)


def read_place(text: str | None, *, jobs: int | None = None) -> Place:
    """Parse a place; `jobs` is a number of local runs given as a separate option.

    >>> read_place("local:4").jobs, read_place("dask:tcp://node1:8786").address
    (4, 'tcp://node1:8786')
    >>> read_place("slurm:partition=short,jobs=50")
    Place(kind='slurm', jobs=50, address='slurm', options={'partition': 'short'})
    """
    kind, colon, rest = (text or "local").partition(":")
    if kind not in KINDS:
        hint = meant(kind, KINDS)
        raise UsageError(f"--on: expected local:N, dask:ADDRESS, slurm or oar, got {text!r}", hint=hint)
    if jobs is not None and text is not None:
        raise UsageError("--on: expected either --jobs or --on, got both", hint=f"--on local:{jobs}")
    if kind == "local":
        if colon and not (rest.isascii() and rest.isdigit() and int(rest) > 0):
            raise UsageError(f"--on: expected local:N with a whole number from 1, got {text!r}")
        return Place(kind, int(rest) if colon else jobs)
    if kind == "dask":
        if not rest:
            raise UsageError("--on: expected dask:ADDRESS, got no address", hint="--on dask:tcp://127.0.0.1:8786")
        return Place(kind, address=rest)
    address = kind
    if kind == "submitit":
        address, _, rest = rest.partition(":")
        if not address:
            raise UsageError("--on: expected submitit:NAME, got no name", hint="--on submitit:local")
    options = _read_options(str(text), rest)
    most = options.pop("jobs", None)
    if most is not None and not (isinstance(most, int) and most > 0):
        raise UsageError(f"--on: expected jobs=N with a whole number from 1, got {text!r}")
    return Place(kind, most if isinstance(most, int) else None, address, options)


def _read_options(text: str, rest: str) -> dict[str, str | int]:
    options: dict[str, str | int] = {}
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise UsageError(f"--on: expected NAME=VALUE after the colon, got {part!r} in {text!r}")
        options[name] = int(value) if value.isascii() and value.isdigit() else value
    return options
