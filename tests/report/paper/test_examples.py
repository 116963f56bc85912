from gapline.report.paper.examples import HORIZON, PAIR, REFERENCE, WORKED, example_envelopes, example_snapshot


def test_every_step_of_the_examples_is_accepted_as_it_stands():
    for traces in (WORKED, PAIR):
        envelopes = example_envelopes(traces)
        for row, arm in enumerate(envelopes.runs["arm"]):
            time, objective = envelopes.steps(row)
            assert tuple(zip(time, objective, strict=True)) == traces[arm]
        assert set(envelopes.runs["horizon"]) == {HORIZON}


def test_the_reference_is_that_of_the_instance():
    (value,) = example_snapshot().values.values()
    assert value.value == REFERENCE
