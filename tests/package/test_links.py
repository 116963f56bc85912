"""Symbolic links, hidden files and files of others: nothing is published that lies elsewhere or that nobody named."""

import os
import shutil
import zipfile

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.study_file import load_contract
from gapline.errors import UsageError
from gapline.package.contents import find_contents
from gapline.package.excluded_files import LINK, odd_file
from package.planted_machine import write_study as write_planted
from study.ruled_study import write_study

SECRET = "the content of a private file"


@pytest.fixture
def elsewhere(tmp_path):
    """A folder outside of the study, with a file nobody may publish."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    return folder


@pytest.fixture
def imported(tmp_path):
    """A study whose campaign was imported, with an instance file."""
    folder = tmp_path / "s"
    (folder / "references").mkdir(parents=True)
    study = write_study(folder, ran=False, reference='policy = "retrospective"')
    (study / "i.txt").write_text("i\n")
    return study


def link_file(study, elsewhere, name):
    """Replace a file of the study by a link to a copy of it elsewhere."""
    shutil.move(study / name, elsewhere / "moved")
    (study / name).symlink_to(elsewhere / "moved")


def link_inside(study, _elsewhere, name):
    """Replace a file of the study by a link to another file of the study."""
    (study / name).rename(study / "inside")
    (study / name).symlink_to(os.path.relpath(study / "inside", (study / name).parent))


def link_folder(study, elsewhere, name):
    """Replace the folder of a file by a link to a copy of the folder elsewhere."""
    folder = (study / name).parent
    shutil.move(folder, elsewhere / "folder")
    folder.symlink_to(elsewhere / "folder")


def pipe(study, _elsewhere, name):
    (study / name).unlink()
    os.mkfifo(study / name)


@pytest.mark.parametrize("make", [link_file, link_inside])
@pytest.mark.parametrize("name", ["study.toml", "known.json", "i.txt", "campaign/runs.parquet", "campaign/time.npy"])
def test_a_link_in_the_place_of_what_is_packed_is_refused(imported, elsewhere, make, name, capsys):
    make(imported, elsewhere, name)
    target = imported.parent / "p.zip"
    assert run(["pack", str(imported), "-o", str(target)]) == 2
    said = capsys.readouterr().err
    assert f"{name} (a symbolic link to " in said
    assert "replace each link by a copy" in said
    assert not target.exists()


def test_a_folder_that_is_a_link_is_refused(imported, elsewhere):
    link_folder(imported, elsewhere, "campaign/time.npy")
    with pytest.raises(UsageError, match=r"not campaign \(a symbolic link to .*elsewhere/folder\)"):
        gl.pack(imported, imported.parent / "p.zip")


def test_instances_behind_links_are_packed_by_their_digests_alone_where_that_is_asked_for(imported, elsewhere):
    link_file(imported, elsewhere, "i.txt")
    with pytest.raises(UsageError, match=r"i\.txt \(a symbolic link to (.|\n)*--without-instances"):
        gl.pack(imported, imported.parent / "p.zip")
    found = find_contents(imported, load_contract(imported), without_instances=True)
    assert "i.txt" not in found.files
    assert found.instances["i"].digest is not None


def test_an_instance_whose_link_leads_nowhere_is_listed(imported):
    (imported / "i.txt").unlink()
    (imported / "i.txt").symlink_to("gone")
    found = find_contents(imported, load_contract(imported))
    assert ("i.txt", "the contract names it, and it is a symbolic link that leads nowhere") in found.left_out


def test_what_is_asked_for_with_also_is_refused_where_it_is_a_link_or_a_pipe(imported, elsewhere):
    (imported / "data").symlink_to(elsewhere)
    os.mkfifo(imported / "queue")
    for pattern, told in (("data", r"data \(a symbolic link"), ("queue", r"queue \(not a regular file\)")):
        with pytest.raises(UsageError, match=told):
            gl.pack(imported, imported.parent / "p.zip", also=[pattern])


@pytest.mark.slow
def test_links_and_files_of_others_that_nobody_named_are_left_out_and_listed(imported, elsewhere, capsys):
    """In references/, campaign/ and results/ too, wherever they lead; a large file of others is one of them."""
    run(["report", str(imported)])
    gl.Snapshot.load(imported / "known.json").save(elsewhere / "other.json")
    gl.Snapshot.load(imported / "known.json").save(imported / "references" / ".hidden.json")
    links = {
        "secret.txt": elsewhere / "secret", "data": elsewhere, "gone": imported / "nothing", "own.txt": "i.txt",
        "references/other.json": elsewhere / "other.json", "results/secret.txt": elsewhere / "secret",
        "results/folder": elsewhere, "results/tables/secret.csv": elsewhere / "secret",
    }  # fmt: skip
    for name, target in links.items():
        (imported / name).symlink_to(target)
    files = [".env", "notes.txt", "campaign/notes.txt", "results/core", "references/.env", "journals.log"]
    files += ["results/figures/mine.svg"]
    for name in files:
        (imported / name).write_text(SECRET)
    (imported / "campaign" / "link.txt").symlink_to(elsewhere / "secret")
    (imported / "results" / "report.html").unlink()
    (imported / "results" / "report.html").symlink_to(elsewhere / "secret")
    capsys.readouterr()
    assert run(["pack", str(imported), "-o", str(imported.parent / "p.zip")]) == 0
    said = capsys.readouterr().out
    for name in links.keys() - {"references/other.json"}:
        assert f"left out: {name} ({LINK})" in said
    for name in {"references/", "campaign/link.txt", *files} - {".env", "references/.env"}:
        assert f"left out: {name} (" in said
    with zipfile.ZipFile(imported.parent / "p.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    assert not members.keys() & {*links, *files, "campaign/link.txt", "references/.hidden.json"}
    assert [name for name, data in members.items() if SECRET.encode() in data] == []
    assert members.keys() >= {"study.toml", "known.json", "i.txt", "campaign/runs.parquet", "results/report.html"}


def test_hidden_files_and_links_among_the_words_of_a_command_are_left_out_and_listed(tmp_path, elsewhere):
    """`.venv/bin/python`, `.env` and a link to a binary are what a command needs here, and not what is published."""
    study = write_planted(tmp_path / "s")
    (study / ".env").write_text(SECRET)
    (study / "solver").symlink_to(elsewhere / "secret")
    (study / ".venv" / "bin").mkdir(parents=True)
    (study / ".venv" / "bin" / "python").symlink_to("/usr/bin/env")
    (study / "tool").symlink_to(elsewhere)
    text = (study / "study.toml").read_text()
    words = '["python3", "solve.py", ".env", "./solver", ".venv/bin/python", "tool/secret", '
    text = text.replace('["python3", "solve.py", ', words).replace('shown = "own"', 'file = ".env"')
    (study / "study.toml").write_text(text)
    found = find_contents(study, load_contract(study))
    assert found.programs == ["rules.py", "solve.py", "words.py"]
    listed = dict(found.left_out)
    named = "; a command or an option of the contract names it"
    assert listed[".env"] == f"a hidden file{named}"
    for name in ("solver", ".venv/bin/python", "tool/secret"):
        assert listed[name] == f"{LINK}{named}"
    assert [one.path for one in found.left_out if one.path == "solver"] == ["solver"]


@pytest.mark.slow
@pytest.mark.parametrize("make", [link_file, link_inside, link_folder, pipe])
@pytest.mark.parametrize("name", ["run.json", "events.jsonl", "stderr.log", "register.jsonl"])
def test_a_link_in_the_place_of_a_journal_is_refused(study, elsewhere, make, name):
    attempt = min((study / "journal").glob("*/attempt-001"))
    path = study / "journal" / name if name == "register.jsonl" else attempt / name
    make(study, elsewhere, path.relative_to(study).as_posix())
    with pytest.raises((gl.GaplineError, OSError), match=r"symbolic link|not a regular file|got a pipe"):
        gl.pack(study, study.parent / "p.zip", keep_hosts=True)
    assert not (study.parent / "p.zip").exists()


@pytest.mark.slow
def test_files_of_others_in_a_journal_are_left_out_and_listed(study, elsewhere):
    attempt = min((study / "journal").glob("*/attempt-001"))
    place = attempt.relative_to(study).as_posix()
    for name in ("core.log", "dump.bin"):
        (attempt / name).write_text(SECRET)
    (attempt / "more.log").symlink_to(elsewhere / "secret")
    (study / "journal" / "copy").symlink_to(elsewhere)
    packed = gl.pack(study, study.parent / "p.zip")
    listed = {one.path for one in packed.left_out}
    assert listed >= {f"{place}/core.log", f"{place}/dump.bin", f"{place}/more.log", "journal/copy"}
    with zipfile.ZipFile(packed.path) as archive:
        assert [name for name in archive.namelist() if SECRET.encode() in archive.read(name)] == []


def test_what_is_no_plain_file_is_named_with_the_part_that_is_none(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f").write_text("x")
    (tmp_path / "b").symlink_to("a")
    assert odd_file(tmp_path, tmp_path / "a" / "f") is None
    assert odd_file(tmp_path, tmp_path / "none" / "f") is None
    assert odd_file(tmp_path, tmp_path / "b" / "f") == "b (a symbolic link to a)"
    # Textually this is `a/f`; the system goes through the link.
    assert odd_file(tmp_path, tmp_path / "b" / ".." / "a" / "f") == "b (a symbolic link to a)"
    assert odd_file(tmp_path, tmp_path / "a") == "a (not a regular file)"
