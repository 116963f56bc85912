"""What `--on` may say."""

import re

import pytest

from gapline.errors import UsageError
from gapline.executors.place import read_place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dusk:tcp://x", "expected local:N, dask:ADDRESS, slurm or oar, got 'dusk:tcp://x'"),
        ("local:0", "expected local:N with a whole number from 1"),
        ("local:two", "expected local:N with a whole number from 1"),
        ("submitit", "expected submitit:NAME"),
        ("slurm:short", "expected NAME=VALUE after the colon"),
        ("slurm:jobs=0", "expected jobs=N"),
    ],
)
def test_a_place_that_is_none_is_wrong_use(text, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        read_place(text)


def test_jobs_and_a_place_exclude_each_other():
    assert read_place(None, jobs=3).jobs == 3
    with pytest.raises(UsageError, match="either --jobs or --on"):
        read_place("local:2", jobs=3)
