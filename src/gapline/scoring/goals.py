"""The names of the columns that belong to a goal."""

from gapline.model.transform import shortest


def attainment_name(goal: float) -> str:
    """Return the column that holds the share of runs that attained a goal.

    >>> attainment_name(0.01), attainment_name(0.01234567)
    ('attainment:0.01', 'attainment:0.01234567')
    """
    return f"attainment:{shortest(goal)}"
