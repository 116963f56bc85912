"""Whatever is changed in a package is found and named, also where every sum was made again."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapline as gl
from gapline.contract.layout import SUMS
from gapline.errors import TraceError, UsageError
from gapline.files.archives import folder_files, write_zip
from gapline.package.checks.rows import CheckOutcome
from gapline.package.verify import verify
from gapline.run.claim import claim
from package import forging
from profiles import examples
from staged_packages import members, write_sums


def outcomes(found):
    return {row.what: row.outcome for row in found.rows}


def named(found) -> str:
    assert not found.passed
    return str(found.first)


@pytest.fixture
def bare(copied) -> Path:
    """A package without results, for what is found before them."""
    shutil.rmtree(copied / "results")
    return forging.hide(copied)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["package", "staged", "real_study"])
def test_what_nobody_touched_passes_and_says_what_it_cannot_show(what, request):
    found = verify(request.getfixturevalue(what))
    assert found.passed, named(found)
    rows = outcomes(found)
    made = ("scores and intervals", "tables", "figures", "macros", "sentences", "page")
    shown = ("snapshots", "instances", "register", "journals", "verdicts", "campaign", "results", *made)
    assert [rows[name] for name in shown] == [CheckOutcome.SHOWN] * len(shown)
    assert all(row.how.endswith("bytes") for row in found.rows if row.what in made)
    assert rows["candidates"] is CheckOutcome.NOT_SHOWN
    assert next(row.number for row in found.rows if row.what == "journals") == 8


@pytest.mark.slow
def test_nothing_is_written_beside_what_is_verified(real_study):
    before = {path: path.stat().st_mtime_ns for path in real_study.rglob("*")}
    assert gl.verify(real_study, recheck=True).passed
    assert {path: path.stat().st_mtime_ns for path in real_study.rglob("*")} == before


def changed_byte(data: bytes, offset: int, by: int) -> bytes:
    return data[:offset] + bytes([(data[offset] + by) % 256]) + data[offset + 1 :]


@settings(max_examples=examples(100))
@given(st.data())
def test_any_byte_of_any_member_that_was_changed_is_found_and_its_member_named(staged, data):
    files = {name: path for name, path in members(staged).items() if path.stat().st_size}
    name = data.draw(st.sampled_from(sorted(files)))
    path, content = files[name], files[name].read_bytes()
    offset = data.draw(st.integers(0, len(content) - 1))
    try:
        path.write_bytes(changed_byte(content, offset, data.draw(st.integers(1, 255))))
        found = verify(staged)
    finally:
        path.write_bytes(content)
    # A list of sums that was changed names the member whose line it was, or itself.
    assert named(found).startswith(name) or name == SUMS
    assert outcomes(found) == {"sums": CheckOutcome.DIFFERS, "the rest": CheckOutcome.NOT_SHOWN}


@pytest.mark.slow
@settings(max_examples=examples(100))
@given(st.data())
def test_a_member_that_was_removed_added_renamed_or_swapped_is_found_and_named(staged, data):
    files = {name: path for name, path in members(staged).items() if name != SUMS}
    one, other = data.draw(st.lists(st.sampled_from(sorted(files)), min_size=2, max_size=2, unique=True))
    deed = data.draw(st.sampled_from(["remove", "add", "rename", "swap"]))
    path, contents = files[one], {name: files[name].read_bytes() for name in (one, other)}
    new = path.with_name(f"new-{path.name}")
    try:
        if deed in ("remove", "rename"):
            path.unlink()
        if deed in ("add", "rename"):
            new.write_bytes(contents[one])
        if deed == "swap":
            path.write_bytes(contents[other])
            files[other].write_bytes(contents[one])
        found = verify(staged)
    finally:
        new.unlink(missing_ok=True)
        for name, content in contents.items():
            files[name].write_bytes(content)
    if deed == "swap" and contents[one] == contents[other]:
        assert found.passed
        return
    said = [one.member for one in found.differences]
    wanted = {"remove": {one}, "add": {f"{one[: -len(path.name)]}new-{path.name}"}, "swap": {one, other}}
    wanted["rename"] = wanted["remove"] | wanted["add"]
    assert set(said) == wanted[deed]


def test_a_zip_is_looked_at_like_its_folder(copied, tmp_path):
    path = copied / "study.toml"
    path.write_bytes(path.read_bytes() + b"\n")
    write_zip(tmp_path / "changed.zip", folder_files(copied))
    assert named(verify(tmp_path / "changed.zip")).startswith("study.toml: expected sha256:")
    data = (tmp_path / "changed.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(data[: len(data) // 2])
    with pytest.raises(TraceError, match="expected a whole zip file"):
        verify(tmp_path / "cut.zip")


def earlier(body):
    body["t"] /= 2


def test_a_journal_that_was_edited_does_not_verify(bare):
    events = forging.attempt_of(bare) / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'"seq":2', b'"seq":2 ')
    events.write_bytes(b"".join(lines))
    found = verify(forging.hide(bare))
    assert named(found).startswith(f"{events.relative_to(bare)}:3: expected checksum ")
    assert outcomes(found)["journals"] is CheckOutcome.DIFFERS


def test_a_journal_whose_checksums_were_made_again_makes_another_campaign(bare):
    forging.reseal(forging.attempt_of(bare) / "events.jsonl", earlier, which=forging.is_candidate)
    found = verify(forging.hide(bare))
    rows = outcomes(found)
    assert (rows["journals"], rows["verdicts"], rows["campaign"]) == (
        CheckOutcome.SHOWN,
        CheckOutcome.SHOWN,
        CheckOutcome.DIFFERS,
    )
    assert named(found).startswith("campaign/time.npy: candidate 1 of many/")


@pytest.mark.slow
def test_a_campaign_that_was_made_again_too_makes_other_results(copied):
    forging.reseal(forging.attempt_of(copied) / "events.jsonl", earlier, which=forging.is_candidate)
    forging.rebuild_campaign(copied)
    found = verify(forging.hide(copied))
    rows = outcomes(found)
    assert (rows["campaign"], rows["results"]) == (CheckOutcome.SHOWN, CheckOutcome.SHOWN)
    assert rows["scores and intervals"] is rows["tables"] is rows["page"] is CheckOutcome.DIFFERS
    assert named(found).startswith("results/results.json:")


@pytest.mark.slow
def test_who_makes_everything_again_is_told_by_the_checker_alone(copied):
    """What `docs/trust.md` says of a forger."""
    verdicts = next(forging.attempt_of(copied).glob("verdicts-*.jsonl"))

    def better(body):
        body["objective"] -= 1.0

    forging.reseal(verdicts, better, which=lambda body: body.get("valid"))
    forging.rebuild_campaign(copied)
    forging.rewrite_results(copied)
    assert verify(forging.hide(copied)).passed
    found = verify(copied, recheck=True)
    assert [name for name, outcome in outcomes(found).items() if outcome is CheckOutcome.DIFFERS] == ["candidates"]
    assert named(found).startswith(f"{verdicts.relative_to(copied)}:2: event ")


def test_a_verdict_that_was_edited_is_found(bare):
    verdicts = next(forging.attempt_of(bare).glob("verdicts-*.jsonl"))
    original = verdicts.read_bytes()
    verdicts.write_bytes(original.replace(b'"valid":true', b'"valid":false', 1))
    found = verify(forging.hide(bare))
    assert named(found).startswith(f"{verdicts.relative_to(bare)}:2: expected checksum ")
    verdicts.write_bytes(original)
    forging.reseal(verdicts, lambda body: body.update(valid=False), which=lambda body: body.get("valid"))
    found = verify(forging.hide(bare))
    assert (outcomes(found)["verdicts"], outcomes(found)["campaign"]) == (CheckOutcome.SHOWN, CheckOutcome.DIFFERS)


def test_a_column_of_the_campaign_that_was_edited_is_found(bare):
    path = bare / "campaign" / "objective.npy"
    column = np.load(path)
    column[1] += 1
    np.save(path, column)
    forging.reseal_campaign(bare)
    found = verify(forging.hide(bare))
    assert re.match(r"campaign/objective\.npy: candidate \d+ of few/small-n30-1/\d: ", named(found))
    assert named(found).endswith(f"expected {column[1] - 1}, got {column[1]}")


def test_a_register_that_was_edited_is_found(bare):
    register = bare / "journal" / "register.jsonl"
    original = register.read_bytes()
    register.write_bytes(original.replace(b'"horizon":60', b'"horizon":61'))
    write_sums(bare)
    assert "journal/register.jsonl:1: the line was changed" in "\n".join(map(str, verify(bare).differences))
    register.write_bytes(original)
    forging.reseal_register(bare, lambda body: body.update(horizon=61.0))
    found = verify(forging.hide(bare))
    assert named(found) == "journal/register.jsonl:1: expected horizon 60.0, got 61.0"


def test_a_plan_that_says_to_be_older_than_the_runs_is_found(bare):
    forging.reseal_register(bare, lambda body: body.update(moment="2099-01-01T00:00:00+00:00"))
    found = verify(forging.hide(bare))
    assert named(found).startswith("journal/register.jsonl:1: expected attempts, as the first began at ")


def test_package_json_that_states_something_else_is_found(bare):
    for name in ("contract", "register", "campaign"):
        found = verify(forging.hide(bare, **{name: "sha256:" + "0" * 64}))
        assert named(found).startswith(f"package.json: {name} (")
    found = verify(forging.hide(bare, schema="gapline.package/99"))
    assert named(found) == "package.json: expected schema gapline.package/1, got 'gapline.package/99'"


def test_the_environment_that_a_package_states_follows_from_its_journals(made, tmp_path):
    """Versions, solvers, checker and machines are those of the runs; what cannot be computed is not checked."""
    folder = shutil.copytree(made.folder, tmp_path / "members")
    found = verify(folder)
    assert found.passed, named(found)
    assert outcomes(found)["environment"] is CheckOutcome.SHOWN
    (left,) = [row for row in found.left if row.what == "package.json"]
    assert left.why == "cannot be computed from the other files: hosts_kept, left_out, taken_out"
    path = folder / "package.json"
    stated = json.loads(path.read_text())
    for name in stated["environment"]:
        other = stated["environment"] | {name: "another"}
        path.write_text(json.dumps(stated | {"environment": other}))
        write_sums(folder)
        found = verify(folder)
        assert named(found).startswith(f"package.json: environment.{name}: expected "), name
    # A package that does not state its version is no older one: it has to state the same environment.
    invented = {name: value for name, value in stated.items() if name != "gapline"}
    path.write_text(json.dumps(invented | {"environment": {"cores": 4096}}))
    write_sums(folder)
    assert "environment" in named(verify(folder))
    path.write_text(json.dumps({name: value for name, value in stated.items() if name != "environment"}))
    write_sums(folder)
    assert outcomes(verify(folder))["environment"] is CheckOutcome.NOT_SHOWN


TEXTS = [
    "tables/panels.csv", "tables/contrasts.tex", "tables/runs.csv", "tables/panels.md",
    "macros.tex", "methods.md", "methods.tex", "report.html",
]  # fmt: skip


@pytest.mark.slow
def test_results_that_were_edited_are_found_each_by_name(copied):
    """All at once, since each is compared by itself: a score, tables, a figure, macros, a sentence and the page."""
    results = copied / "results"
    for name in TEXTS:
        text = (results / name).read_text(encoding="utf-8")
        last = max(text.rfind(digit) for digit in "12345678")
        (results / name).write_text(f"{text[:last]}9{text[last + 1 :]}", encoding="utf-8")
    figures = sorted(results.glob("figures/*"))[:2]
    for figure in figures:
        figure.write_bytes(figure.read_bytes() + b"\n")
    forging.relist_results(copied)
    forging.replace_number(results / "results.json", lambda text: text[:-1] + str((int(text[-1]) + 1) % 10))
    found = verify(forging.hide(copied))
    names = {f"results/{name}" for name in ("results.json", *TEXTS)}
    assert {one.member for one in found.differences} == names | {str(path.relative_to(copied)) for path in figures}
    assert all(one.line for one in found.differences if one.member in names)
    assert named(found).startswith("results/results.json:")
    made = ("scores and intervals", "tables", "figures", "macros", "sentences", "page")
    assert [outcomes(found)[name] for name in made] == [CheckOutcome.DIFFERS] * len(made)


def test_a_study_that_somebody_works_on_is_refused(real_study, tmp_path):
    study = shutil.copytree(real_study, tmp_path / "study")
    with claim(forging.attempt_of(study).parent), pytest.raises(gl.GaplineError, match="1 cell under way"):
        verify(study)


@pytest.mark.parametrize(("name", "got"), [("no.zip", "no such file"), ("text.txt", "a file"), ("empty", "without")])
def test_what_is_neither_a_package_nor_a_study_is_refused(tmp_path, name, got):
    (tmp_path / "text.txt").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=f"expected a package or a study directory, got .*{got}"):
        verify(tmp_path / name)


def test_the_document_is_json_and_names_the_first_difference(bare):
    found = verify(forging.hide(bare, contract="x"))
    document = json.loads(json.dumps(found.document()))
    assert document["differences"][0]["member"] == "package.json"
    assert (document["passed"], document["kind"]) == (False, "package")
