"""An attempt directory with a whole journal."""

from pathlib import Path

import msgspec
import pytest

from gapline.journal.line import EVENTS_FILE, JournalWriter
from journal.sample_journal import ORDER, bodies


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    writer = JournalWriter(tmp_path / EVENTS_FILE)
    writer.append(bodies())
    writer.close()
    (tmp_path / "run.json").write_bytes(msgspec.json.encode(ORDER))
    return tmp_path
