"""A campaign follows from its journals alone, whatever their folder is called."""

import shutil

from gapline.campaign.store import save_campaign
from gapline.package.campaign import rebuild_campaign


def test_two_folders_give_the_same_bytes(made, tmp_path):
    for name in ("a", "somewhere else"):
        shutil.copytree(made.folder, tmp_path / name)
        save_campaign(rebuild_campaign(tmp_path / name)[0], tmp_path / f"{name} campaign")
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
    campaign, index = rebuild_campaign(tmp_path)
    assert index.damaged[0].startswith(
        f"journal/{path.parent.parent.name}/attempt-001/events.jsonl:2: expected checksum"
    )
    assert not any(str(tmp_path) in note for note in campaign.diagnostics.notes)
