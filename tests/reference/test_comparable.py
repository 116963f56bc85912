"""Values and runs of another instance under the same name are refused."""

import pytest

from gapline.errors import IntegrityError
from gapline.reference.alarm import find_alarms
from gapline.reference.comparable import refuse_changed_instances
from reference.campaigns import envelopes
from reference.contradicted import RUNS, snapshot


def test_certificates_of_different_instances_are_not_compared():
    one = snapshot({"i1": 10.0}, "one", ["i1"], {"i1": "sha256:aa"})
    other = snapshot({"i1": 11.0}, "other", ["i1"], {"i1": "sha256:bb"})
    assert find_alarms([one, other]) == []
    with pytest.raises(IntegrityError, match="i1: sha256:aa in snapshot one but sha256:bb in snapshot other"):
        refuse_changed_instances([one, other])


def test_runs_of_another_instance_are_refused():
    one = snapshot({"i1": 10.0, "i2": 5.0}, "one", (), {"i1": "sha256:aa", "i2": "sha256:cc"})
    runs = envelopes(*RUNS, instance_digest=["sha256:bb", "sha256:bb", "sha256:cc"]).runs
    with pytest.raises(
        IntegrityError, match="got 1 that changed: i1: sha256:bb in runs of a but sha256:aa in snapshot one"
    ):
        refuse_changed_instances(one, runs)
    refuse_changed_instances(one, envelopes(*RUNS, instance_digest=["sha256:aa", None, "sha256:cc"]).runs)
