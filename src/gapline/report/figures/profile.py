"""Performance and data profiles as step curves."""

from gapline.analysis.neighbours.profiles import Profiles
from gapline.model.reading import ReferenceLabel
from gapline.report.curve_figure import CurveFigure, held, thinned
from gapline.report.numbers import goal_words

PERFORMANCE = "performance"


def profile_figure(profiles: Profiles, reference: ReferenceLabel) -> CurveFigure:
    """Return the profile of every arm, held to the last ratio of any arm."""
    ratio = profiles.kind == PERFORMANCE
    highest = profiles.frame["x"].max()
    end = float(highest) if isinstance(highest, float) else 1.0
    # Where every arm is within a hair of the best, a logarithmic axis from 1 to 1 would be empty.
    end = max(end * 1.05, 2.0) if ratio else end
    curves = profiles.frame.select(series="arm", time="x", value="value")
    goal = goal_words(profiles.goal)
    return CurveFigure(
        data=thinned(held(curves, "series", end=end)),
        title=f"Performance profile: time to {goal}, further left and higher is better"
        if ratio
        else f"Data profile: time to {goal}",
        caption=(
            f"share of {profiles.instances} instances on which an arm's expected time to a raw gap of {goal} is at "
            f"most {'x times that of the best arm' if ratio else 'x'}; against {reference}; instances never solved "
            "stay in the denominator"
        ),
        time_title="ratio to the best arm" if ratio else "time (s)",
        value_title="share of instances",
        log_time=ratio,
        shares=True,
        start=1.0 if ratio else 0.0,
        end=end,
    )
