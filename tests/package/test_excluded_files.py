"""What is not in a package is listed; the list does not depend on what a command happened to leave."""

from gapline.package.excluded_files import LINK, NEVER, list_excluded, list_other_results


def own(folder, taken=(), **more):
    return [(one.path, one.why) for one in list_excluded(folder, taken, **more) if one.path not in NEVER]


def put(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")


def test_what_commands_leave_is_listed_whether_it_is_there_or_not(tmp_path):
    before = list_excluded(tmp_path, ())
    put(tmp_path, "journal/index.jsonl", "journal/options.json", "journal/c/claim", ".DS_Store", "a/__pycache__/x")
    put(tmp_path, "journal/campaign.lock", "campaign/manifest.json", "results/figures/a.pdf", "results/report.html")
    (tmp_path / "a" / "__pycache__" / "x").unlink()
    assert [one for one in list_excluded(tmp_path, ()) if one.path != "a/"] == before


def test_files_of_the_user_are_listed_and_folders_once(tmp_path):
    put(tmp_path, "instances/a", "instances/b", "notes/1", "notes/2", "x.txt", "results/mine.txt")
    assert own(tmp_path, ["instances/a"]) == [
        (path, "the contract does not name it") for path in ("notes/", "x.txt", "instances/b")
    ]


def test_files_beside_the_results_are_listed_and_those_behind_a_link_are_not(tmp_path):
    study, packed = tmp_path / "study", tmp_path / "packed"
    put(study, "results/tables/mine.csv", "results/figures/a.svg", "results/figures/a.pdf", "results/x")
    (study / "results" / "methods.md").symlink_to(tmp_path / "elsewhere")
    put(packed, "results/figures/a.svg", "results/report.html")
    assert sorted(list_other_results(study, packed)) == [
        ("results/methods.md", LINK),
        ("results/tables/mine.csv", "the report of what is packed does not have it"),
        ("results/x", "the report of what is packed does not have it"),
    ]
    (study / "results").rename(tmp_path / "moved")
    (study / "results").symlink_to(tmp_path / "moved")
    assert list_other_results(study, packed) == []
    assert own(study) == [("results", LINK)]
    assert list_other_results(packed, packed) == list_other_results(tmp_path, packed) == []


def test_strays_and_copies_of_runs_are_listed(tmp_path):
    put(tmp_path, "journal/old/x", "journal/.nfs1")
    assert own(tmp_path, copies=["journal/c"]) == [
        ("journal/c", "a copy of a run that has a folder of its own"), ("journal/old", "not of gapline"),
    ]  # fmt: skip


def test_the_package_itself_is_no_file_of_the_study(tmp_path):
    put(tmp_path, "a.zip", "b.zip")
    assert own(tmp_path, beside=[tmp_path / "a.zip"]) == [("b.zip", "the contract does not name it")]
