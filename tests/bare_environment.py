"""A virtual environment with a wheel of gapline, its dependencies with some extras or none, and nothing else.

The wheel is installed by pip; the dependencies are links to what is installed here, one distribution after the other:
nothing is downloaded, and nothing else of this environment can be imported.
"""

import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement


def closure(name: str, extras: frozenset[str] = frozenset()) -> dict[str, Distribution]:
    """Return a distribution and all that it needs with these extras, as installed here."""
    found: dict[str, Distribution] = {}
    waiting, seen = [(name, extras)], set()
    while waiting:
        wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        name, extras = wanted
        held = found.setdefault(name, distribution(name))
        for line in held.requires or []:
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in extras or {""}):
                waiting.append((needed.name.lower().replace("_", "-"), frozenset(needed.extras)))
    return found


def make_bare_environment(folder: Path, wheel: Path, *extras: str) -> Path:
    """Return the Python of a new environment that has the wheel and what it needs with these extras."""
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    place = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for name, held in closure("gapline", frozenset(extras)).items():
        if name != "gapline":
            _link(held, place)
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", wheel], check=True
    )
    return python


def _link(held: Distribution, place: Path) -> None:
    """Link what a distribution has beside the others; what it has elsewhere (scripts) is left out."""
    for top in {path.parts[0] for path in held.files or []} - {"..", "__pycache__"}:
        target = Path(str(held.locate_file(top)))
        if target.exists() and not (place / top).exists():
            (place / top).symlink_to(target)
