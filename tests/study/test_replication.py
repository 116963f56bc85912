"""What a replication found, in memory and in its file."""

import pytest

from gapline.errors import TraceError
from gapline.study.replication import (
    Agreement,
    Conclusion,
    Condition,
    Measured,
    PackageOrigin,
    RankAgreement,
    Replicated,
    ReplicatedPart,
    Shift,
)


def found(**changes):
    told = Measured(instances=8, mean_a=0.1, mean_b=0.3, difference=-0.2, low=-0.3, high=-0.1, p=0.01)
    one = Conclusion(a="a", b="b", declared=True, old=told, new=told, order_agrees=True, agreement=Agreement.AGREES)
    facts = {
        "conclusions": (one,), "ranks": RankAgreement(arms=2, tau=1.0, concordant=1), "shifts": (), "conditions": (),
        "runs": 32, "planned": 32, "lacking_old": 0, "lacking_new": 0, "kernel": "squeezed", "level": 0.95,
        "how": "Student's t", "reading": "against known", "horizons": "scored at 10 s", "campaign": "sha256:1",
        "origin": PackageOrigin(name="a.zip", sha256="sha256:2", swhid="swh:1:dir:3", part=ReplicatedPart(seeds=(1,))),
    }  # fmt: skip
    return Replicated(**facts | changes)


def test_it_reads_back_as_it_was_saved(tmp_path):
    shift = Shift(arm="a", tier=1, panel=None, instances=8, old=0.1, new=0.1 + 2**-54, shift=2**-54, verdict="worse")
    one = found(shifts=(shift,), conditions=(Condition(kind="machine", what="cores", old="2", new="4"),))
    one.save(tmp_path / "replication.json")
    assert Replicated.load(tmp_path / "replication.json") == one
    assert one.moved == (shift,)
    assert one.conditions[0].differs


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "expected the result of a replication"), ('{"schema": 1}', "expected the result of a replication")],
)
def test_another_file_is_refused(tmp_path, text, said):
    (tmp_path / "replication.json").write_text(text)
    with pytest.raises(TraceError, match=said):
        Replicated.load(tmp_path / "replication.json")


def test_another_schema_is_refused(tmp_path):
    found(schema="gapline.replication/9").save(tmp_path / "replication.json")
    with pytest.raises(TraceError, match=r"expected schema 'gapline\.replication/1', got 'gapline\.replication/9'"):
        Replicated.load(tmp_path / "replication.json")


def test_what_is_known_of_one_alone_does_not_differ():
    assert not Condition(kind="machine", what="cores", old="", new="4").differs
    assert found().origin.identity.sha256 == "sha256:2"
