from gapline.cli import snapshot_options as words
from gapline.references.freeze import Moved
from gapline.references.snapshot import Snapshot


def test_a_snapshot_is_told_with_its_counts(capsys):
    snapshot = Snapshot.from_values({"a": 1.0, "b": 2.0}, name="mine\x1b", certified=["a"])
    assert (words.facts(snapshot)["instances"], words.facts(snapshot)["certified"]) == (2, 1)
    words.print_facts(snapshot)
    out = capsys.readouterr().out
    assert out.startswith("name           mine\\u001b\ndigest         sha256:")
    assert "instances      2\ncertified      1\n" in out


def test_values_and_prices_in_words():
    assert (words.value(1.5, certified=True), words.value(None, certified=False)) == ("1.5 certified", "none")
    assert words.moved_words(Moved("i", 10.0, None, "too late")) == "i: stored 10.0, now infeasible (too late)"
    assert words.moved_words(Moved("i", 10.0, 11.0, "")) == "i: stored 10.0, now 11.0"
    assert words.moved(Moved("i", 10.0, 11.0, ""))["repriced"] == 11.0
