"""How fast each host of a study is: `calibrations.jsonl`, a line per measurement, only ever added to."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from gapline.contract.layout import CALIBRATIONS
from gapline.errors import TraceError
from gapline.files.atomic_write import naming
from gapline.files.locks import append_whole, locked
from gapline.files.open_file import read_document
from gapline.journal.line import is_sealed, seal, unseal

Value = str | int | float | bool | None


class Calibration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a host took for a fixed work load.

    `seconds` is the best of `repeats` rounds, `spread` by how much of it their median is longer, `load` that of the
    host at the time.
    """

    host: str
    processor: str
    work: str
    seconds: float
    spread: float
    repeats: int
    load: float | None = None
    moment: str = ""


def add_calibration(study: Path, made: Calibration) -> Path:
    """Append a measurement to those of a study."""
    path = study / CALIBRATIONS
    # Each line by itself: they are added by hosts that know nothing of each other.
    line = seal(msgspec.json.encode(made)[:-1], 0)[0]
    with naming(path), locked(path) as file:
        append_whole(file, line)
    return path


def read_calibrations(study: Path) -> dict[tuple[str, str], Calibration]:
    """Return the last measurement of each host and processor; a new processor under an old name is another machine."""
    path = study / CALIBRATIONS
    found: dict[tuple[str, str], Calibration] = {}
    lines = read_document(path).splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            # Lines of before there were checksums have none; a damaged checksum is a field that is not known.
            body = unseal(line, 0)[0] if is_sealed(line) else line
            made = msgspec.json.decode(body, type=Calibration)
        except (ValueError, msgspec.MsgspecError) as error:
            raise TraceError(f"{path}:{number}: expected a calibration, got {error}") from error
        found[made.host, made.processor] = made
    return found


def calibration_columns(
    calibrations: Mapping[tuple[str, str], Calibration], machine: Mapping[str, str]
) -> dict[str, Value]:
    """Return the columns of the runs table for a run on this machine; none where no host was calibrated."""
    if not calibrations:
        return {}
    made = calibrations.get((machine.get("host", ""), machine.get("processor", "")))
    return {
        "calibration": None if made is None else made.seconds,
        "calibration_spread": None if made is None else made.spread,
        "calibration_work": None if made is None else made.work,
    }
