"""A campaign follows from its journals alone, whatever their folder is called."""

import shutil

from gapline.campaign.store import save_campaign
from gapline.package.campaign import has_journals, placeless, rebuild_campaign


def test_two_folders_give_the_same_bytes(made, tmp_path):
    for name in ("a", "somewhere else"):
        shutil.copytree(made.folder, tmp_path / name)
        save_campaign(rebuild_campaign(tmp_path / name).campaign, tmp_path / f"{name} campaign")
    one, other = (
        {path.name: path.read_bytes() for path in (tmp_path / f"{name} campaign").iterdir()}
        for name in ("a", "somewhere else")
    )
    packed = {path.name: path.read_bytes() for path in (made.folder / "campaign").iterdir()}
    assert one == other == packed


def test_what_does_not_verify_is_named_without_the_folder(made, tmp_path):
    shutil.copytree(made.folder / "journal", tmp_path / "journal")
    shutil.copytree(made.folder / "instances", tmp_path / "instances")
    shutil.copyfile(made.folder / "study.toml", tmp_path / "study.toml")
    path = next(tmp_path.glob("journal/*/*/events.jsonl"))
    path.write_bytes(path.read_bytes().replace(b'"seq":1', b'"seq":9', 1))
    rebuilt = rebuild_campaign(tmp_path)
    assert rebuilt.damaged[0].startswith(
        f"journal/{path.parent.parent.name}/attempt-001/events.jsonl:2: expected checksum"
    )
    assert not any(str(tmp_path) in note for note in rebuilt.campaign.diagnostics.notes)


def test_every_attempt_is_told_of(made):
    seen = []
    rebuild_campaign(made.folder, seen.append)
    assert len({one.outcome.path for one in seen}) == 8


def test_a_folder_without_journals_says_so(made, tmp_path):
    assert has_journals(made.folder)
    assert not has_journals(tmp_path)


def test_a_folder_is_named_by_a_point(made, tmp_path):
    campaign = rebuild_campaign(made.folder).campaign
    assert placeless(campaign, tmp_path).diagnostics == campaign.diagnostics
