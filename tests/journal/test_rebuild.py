"""A campaign that keeps its runs equals one that is read from all journals, to the last bit."""

import random
import shutil

import msgspec
import pytest
from torture.flips import flip
from torture.journals import ARMS, build

from gapline.contract.layout import BUILT, CAMPAIGN, INDEX, JOURNALS, MANIFEST, slug
from gapline.contract.tables import RunKey
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.index import open_index
from gapline.journal.line import EVENTS_FILE, ORDER_FILE, JournalWriter
from gapline.journal.read import read_journal
from gapline.journal.rebuild import renew_campaign
from gapline.journal.records import Ending, Order, order_text
from gapline.journal.verdicts import Judge, StoredVerdict, write_verdicts


def renew(study):
    """Write the campaign anew and return its files, and how many journals were parsed."""
    with open_index(study) as index:
        renew_campaign(study, index)
        parsed = index.parsed
    return {path.name: path.read_bytes() for path in (study / CAMPAIGN).iterdir()}, parsed


def from_scratch(study):
    """Return the files of the campaign as all journals make it, in the same place."""
    kept = study.with_name("kept")
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir()
    for name in (CAMPAIGN, f"{JOURNALS}/{INDEX}", f"{JOURNALS}/{BUILT}"):
        if (study / name).exists():
            (study / name).rename(kept / name.replace("/", "-"))
    files, parsed = renew(study)
    assert parsed == sum(len(attempts_of(cell)) for cell in cells_of(study))
    shutil.rmtree(study / CAMPAIGN)
    for name in (CAMPAIGN, f"{JOURNALS}/{INDEX}", f"{JOURNALS}/{BUILT}"):
        if (kept / name.replace("/", "-")).exists():
            (kept / name.replace("/", "-")).rename(study / name)
    return files


def write_attempt(study, arm, number, draw, *, instance="i"):
    attempt = study / JOURNALS / slug(RunKey(arm, instance, 1)) / f"attempt-{number:03d}"
    attempt.mkdir(parents=True)
    option = draw.choice([{}, {"slices": 5}, {"slices": "auto"}, {"slices": 2.5}])
    order = Order(
        arm=arm, instance=instance, seed=1, panel="p", horizon=9.0, attempt=number, argv=["x"],
        carried={"validation": draw.choice(["checker", "solver"]), "tier": 1, **option},
        machine={"host": draw.choice("gh"), "processor": "p"},
    )  # fmt: skip
    (attempt / ORDER_FILE).write_bytes(order_text(order))
    more = [b"", b',"bound":1', b',"primary":3', b',"claim":"optimal"']
    said = [
        b'"t":%d.25,"say":{"objective":%b,"solution":[%d]%b}'
        % (k, draw.choice([b"7", b"9.5", b"null", b'"x"']), k, draw.choice(more))
        for k in range(draw.randrange(4))
    ]
    end = Ending(
        cause=draw.choice(["exit", "exit", "horizon", "interrupted"]), started="2026-08-01T12:00:00+00:00",
        elapsed=8.0, exit_code=0, foreign_share=draw.choice([None, 0.9]), leftover=draw.choice([0, 0, 1]),
    )  # fmt: skip
    writer = JournalWriter(attempt / EVENTS_FILE)
    writer.append([b'"start":' + msgspec.json.encode(order), *said])
    if draw.random() < 0.9:
        writer.append([b'"end":' + msgspec.json.encode(end)])
    writer.close()


def change(study, draw, turn):
    """Do what happens to a study between two calls."""
    cell = draw.choice(cells_of(study))
    attempt = draw.choice(attempts_of(cell))
    what = draw.choice(["run", "again", "again", "damage", "remove", "judge", "judge", "stray", "nothing"])
    if what == "run":
        write_attempt(study, draw.choice("abx"), 1, draw, instance=f"i{turn}")
    elif what == "again":
        order = read_journal(attempt).order
        if order is not None and cell.name == slug(RunKey(order.arm, order.instance, order.seed)):
            write_attempt(study, order.arm, 90 + turn, draw, instance=order.instance)
    elif what == "damage":
        (attempt / EVENTS_FILE).write_bytes(flip((attempt / EVENTS_FILE).read_bytes(), draw))
    elif what == "remove" and len(cells_of(study)) > 2:
        shutil.rmtree(attempt)
    elif what == "judge":
        journal = read_journal(attempt)
        given = [StoredVerdict(event.sequence, valid=draw.random() < 0.7, reason="odd") for event in journal.events]
        checked, judge = f"2026-08-{2 + turn:02d}", Judge("c", draw.choice("12"))
        write_verdicts(journal, judge, checked=checked, candidates=len(given), verdicts=given)
    elif what == "stray":
        (study / JOURNALS / f"{turn}.txt").write_text("mine")
    return what


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_after_any_changes_it_is_the_campaign_of_all_journals(tmp_path, seed):
    study, draw = build(tmp_path / "study"), random.Random(seed)
    spared = 0
    for turn in range(12):
        before = sum(len(attempts_of(cell)) for cell in cells_of(study))
        what = change(study, draw, turn)
        files, parsed = renew(study)
        assert files == from_scratch(study), f"seed {seed}, turn {turn}: {what}"
        spared += before - parsed
    assert spared > 0


def test_nothing_is_parsed_and_nothing_written_where_nothing_changed(tmp_path):
    study = build(tmp_path / "study")
    assert renew(study)[1] == len(ARMS)
    places = {path.name: path.stat().st_ino for path in (study / CAMPAIGN).iterdir()}
    assert renew(study)[1] == 0
    assert {path.name: path.stat().st_ino for path in (study / CAMPAIGN).iterdir()} == places


def test_one_run_more_is_one_journal_to_parse(tmp_path):
    study = build(tmp_path / "study")
    renew(study)
    write_attempt(study, "b", 1, random.Random(1), instance="new")
    files, parsed = renew(study)
    assert (files, parsed) == (from_scratch(study), 1)


def test_a_campaign_that_was_damaged_is_read_from_all_journals(tmp_path):
    study = build(tmp_path / "study")
    files, _ = renew(study)
    column = study / CAMPAIGN / "objective.npy"
    column.write_bytes(column.read_bytes()[:-8] + bytes(8))
    assert renew(study) == (files, len(ARMS))


@pytest.mark.parametrize("case", range(20))
def test_a_note_of_its_journals_that_is_damaged_or_of_another_campaign_is_not_believed(tmp_path, case):
    study, draw = build(tmp_path / "study"), random.Random(case)
    renew(study)
    path = study / JOURNALS / BUILT
    old = path.read_bytes()
    write_attempt(study, "x", 1, draw)
    expected, _ = renew(study)
    # As a kill between the campaign and the note leaves it; or any other byte.
    path.write_bytes(old if case == 0 else flip(path.read_bytes(), draw))
    files, parsed = renew(study)
    assert files == expected
    assert parsed > 1


def test_stamps_that_are_out_of_order_are_counted_each_time(tmp_path):
    study = build(tmp_path / "study")
    attempt = study / JOURNALS / slug(RunKey("x", "i", 1)) / "attempt-001"
    attempt.mkdir(parents=True)
    order = Order(arm="x", instance="i", seed=1, panel="p", horizon=9.0, carried={"validation": "solver", "tier": 1})
    end = Ending(cause="exit", started="2026-08-01T12:00:00+00:00", elapsed=8.0, exit_code=0)
    writer = JournalWriter(attempt / EVENTS_FILE)
    said = [b'"t":%d,"say":{"objective":5}' % time for time in (3, 2, 4)]
    writer.append([b'"start":' + msgspec.json.encode(order), *said, b'"end":' + msgspec.json.encode(end)])
    writer.close()
    for number in range(2):
        write_attempt(study, "y", 1, random.Random(1), instance=f"i{number}")
        files, _ = renew(study)
        assert msgspec.json.decode(files[MANIFEST])["diagnostics"]["unordered"] == 1
        assert files == from_scratch(study)


@pytest.mark.slow
def test_a_study_without_its_campaign_is_read_from_its_journals(make_study):
    """Whoever removes `campaign/` has lost nothing that `score` needs."""
    import shutil

    import gapline
    from gapline.journal.rebuild import current_campaign

    study = make_study({"a": ["scripted", "1", "3", "0"]}, seeds=(1,))
    assert study.run().returncode == 0
    kept = gapline.read(study.path)
    assert current_campaign(study.path) is None
    shutil.rmtree(study.path / "campaign")
    assert gapline.read(study.path).digest() == kept.digest()
    assert not (study.path / "campaign").exists()
