"""The digest of a problem: what is read counts, what stands around it does not."""

import bz2
import gzip
import json
import lzma

import pytest

from gapline.contract.instance_digest import (
    files_beside,
    pointed_digest,
    problem_digest,
    problem_digest_of,
    sidecar_names,
)

INSTANCE = {"instance_name": "T", "demands": [0, 3], "horizon": [0, 90], "metadata": {"sidecars": {"geo": "aa"}}}
LIBRARY = "NAME : T\nCOMMENT : (first)\nDIMENSION : 2\nNODE_COORD_SECTION\n1 0 0\n2 3 4\nEOF\n"


def digest(document, name="T.vrp.json", beside=lambda _: None):
    return problem_digest(json.dumps(document).encode(), name, beside)


def test_metadata_layout_and_ways_to_write_a_number_are_not_the_problem():
    other = {"metadata": {"sidecars": {"geo": "bb"}}, "horizon": [0.0, 90.0], "benchmark_name": "new"}
    assert digest(INSTANCE) == digest(INSTANCE | other)
    assert problem_digest(json.dumps(INSTANCE, indent=4).encode(), "T.vrp.json") == digest(INSTANCE)
    for change in ({"demands": [0, 4]}, {"horizon": [0, 91]}, {"fleet_fixed_cost": 1}):
        assert digest(INSTANCE | change) != digest(INSTANCE)


def test_metadata_of_other_json_may_be_what_is_read():
    changed = INSTANCE | {"metadata": {}}
    assert digest(INSTANCE, "T.json") != digest(changed, "T.json")
    assert digest(INSTANCE, "T.json") == problem_digest(json.dumps(INSTANCE, indent=1).encode(), "T.json")


def test_whole_numbers_beyond_doubles_are_told_apart():
    assert digest({"a": 2**60}) != digest({"a": 2**60 + 1})


def test_a_pinned_sidecar_counts_by_its_pin_and_another_by_its_content():
    pinned = {"td": {"model": "atf", "atf_path": "T.atf.json", "atf_sha256": "00"}}
    moved = {"td": pinned["td"] | {"atf_path": "sidecars/T.atf.json"}}
    assert digest(pinned) == digest(moved)
    assert digest(pinned) != digest({"td": pinned["td"] | {"atf_sha256": "11"}})
    loose = {"td": {"graph": {"path": "T.road.json.gz"}}}
    road = {"T.road.json.gz": gzip.compress(b"[1]", mtime=0)}
    later = {"T.road.json.gz": gzip.compress(b"[1]", mtime=9)}
    assert digest(loose, beside=road.get) == digest(loose, beside=later.get)
    assert digest(loose, beside=road.get) != digest(loose, beside={"T.road.json.gz": gzip.compress(b"[2]")}.get)
    assert digest(loose, beside=road.get) != digest(loose)


def test_names_and_comments_of_a_library_file_are_not_the_problem():
    other = LIBRARY.replace("(first)", "(best 7)").replace("NAME : T", "NAME : U").replace("2 3 4", " 2  3\t4 ")
    assert problem_digest(LIBRARY.encode(), "T.vrp") == problem_digest(other.encode(), "T.vrp")
    assert problem_digest(LIBRARY.encode(), "T.vrp") != problem_digest(other.replace("4", "5").encode(), "T.vrp")


def test_other_text_counts_without_the_ends_of_its_lines():
    assert problem_digest(b"ROWS\n N  c\n", "m.mps") == problem_digest(b"ROWS  \r\n N  c\r\n\r\n", "m.mps")
    assert problem_digest(b"ROWS\n N  c\n", "m.mps") != problem_digest(b"ROWS\n N c\n", "m.mps")


@pytest.mark.parametrize("pack", [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)])
def test_what_is_packed_counts_as_what_is_in_it(pack):
    suffix, compress = pack
    assert problem_digest(compress(LIBRARY.encode()), f"T.vrp{suffix}") == problem_digest(LIBRARY.encode(), "T.vrp")


@pytest.mark.parametrize(("name", "data"), [("i.json", b"{"), ("i.vrp", b"\xff"), ("i.gz", b"no archive")])
def test_what_cannot_be_read_counts_byte_by_byte(name, data):
    assert problem_digest(data, name) == problem_digest(data, name) != problem_digest(data + b"x", name)


def test_sidecars_of_a_file_lie_beside_it_or_above(tmp_path):
    folder = tmp_path / "n=5"
    folder.mkdir()
    file = folder / "T.vrp.json"
    file.write_text(json.dumps({"td": {"atf_path": "sidecars/T.atf.json"}}))
    bare = problem_digest_of(file)
    (tmp_path / "sidecars").mkdir()
    (tmp_path / "sidecars/T.atf.json").write_text("[1]")
    above = problem_digest_of(file)
    (folder / "sidecars").mkdir()
    (folder / "sidecars/T.atf.json").write_text("[2]")
    assert len({bare, above, problem_digest_of(file)}) == 3


@pytest.mark.parametrize("word", ["a.0,b", 'a\\"1.0,', "x.0]"])
def test_a_text_keeps_its_digits_where_numbers_lose_their_zeros(word):
    """`1.0,` inside a text is no number, with an escape in it or without."""

    def digest(text, number):
        return problem_digest(f'{{"name": "{text}", "demands": [{number}, 2.50]}}'.encode(), "i.json")

    assert digest(word, "1.0") == digest(word, "1") == digest(word, "1e0")
    assert digest(word, "1.0") != digest(word.replace(".0", ""), "1.0")


def test_a_large_file_pointer_states_the_digest_of_what_it_stands_for():
    oid = "ab" * 32
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 9\n".encode()
    assert pointed_digest(pointer) == oid
    assert pointed_digest(b"{}") is None
    assert pointed_digest(b" " + pointer) is None


def test_sidecars_are_those_that_are_read_and_never_lead_out_of_the_collection():
    td = {"atf_path": "A.atf.json", "road": {"path": "net/r.json"}, "model": "x", "up_path": "../x", "root_path": "/x"}
    document = {"td": td, "metadata": {"sidecars": {"geo": {"path": "A.geo.json"}}}}
    assert sidecar_names(json.dumps(document).encode()) == ["A.atf.json", "net/r.json"]
    assert sidecar_names(b"{") == sidecar_names(b"[]") == sidecar_names(b'{"td": 1}') == []


def test_what_lies_beside_an_instance_is_found_inside_of_a_folder_alone(tmp_path):
    study = tmp_path / "study"
    (study / "i").mkdir(parents=True)
    for place in (tmp_path / "out.json", study / "top.json", study / "i" / "near.json"):
        place.write_text("{}")
    td = {"a_path": "near.json", "b_path": "top.json", "c_path": "out.json", "d_path": "gone.json"}
    instance = study / "i" / "one.vrp.json"
    instance.write_text(json.dumps({"td": td}))
    assert files_beside(instance, study) == [study / "i" / "near.json", study / "top.json"]
    (study / "mamut-collection.json").write_text("{}")
    assert files_beside(instance, study)[-1] == study / "mamut-collection.json"
    instance.write_text("{}")
    assert files_beside(instance, study) == []
