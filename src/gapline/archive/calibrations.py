"""The calibrations of a study as they go into a package: under the names that stand in for the hosts."""

import shutil
from pathlib import Path
from typing import Any

import msgspec

from gapline.archive.attempts import read_lines
from gapline.archive.scrub import Scrubber
from gapline.errors import IntegrityError
from gapline.journal.line import is_sealed, seal, unseal
from gapline.model.layout import CALIBRATIONS
from gapline.model.regular import open_regular


def calibrated_hosts(study: Path) -> tuple[str, ...]:
    """Return the hosts that were calibrated, in the order of the measurements."""
    return tuple(str(made.get("host", "")) for made in _calibrations(study))


def stage_calibrations(study: Path, folder: Path, scrub: Scrubber | None) -> None:
    """Write the calibrations of a study into a folder, under the names that stand in for the hosts."""
    if not (study / CALIBRATIONS).is_file():
        return
    if scrub is None:
        shutil.copyfile(study / CALIBRATIONS, folder / CALIBRATIONS)
        return
    lines = []
    for made in _calibrations(study):
        clean = {
            name: scrub.host(value, CALIBRATIONS) if name == "host" else scrub.value(value, CALIBRATIONS)
            for name, value in made.items()
        }
        lines.append(seal(msgspec.json.encode(clean)[:-1], 0)[0])
    (folder / CALIBRATIONS).write_bytes(b"".join(lines))


def _calibrations(study: Path) -> list[dict[str, Any]]:
    path = study / CALIBRATIONS
    if not path.is_file():
        return []
    found = []
    with open_regular(path) as source:
        for number, line in enumerate(read_lines(source), 1):
            whole = line.removesuffix(b"\n")
            try:
                found.append(msgspec.json.decode(unseal(whole, 0)[0] if is_sealed(whole) else whole, type=dict))
            except (ValueError, msgspec.MsgspecError) as error:
                raise IntegrityError(f"{path}:{number}: expected a calibration, got {error}") from error
    return found
