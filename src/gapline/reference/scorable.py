"""Which instances can be scored at all: positive objectives and a usable reference, on the scale that is chosen."""

from collections.abc import Sequence

from gapline.envelope.build import Unchecked, unscorable_instances
from gapline.model.campaign import Campaign
from gapline.model.names import KernelCode, parse_kernel_name
from gapline.model.scale import Scale, Senses, choose_scale
from gapline.model.transform import Declared
from gapline.reference.policy import Policy
from gapline.reference.resolve import instance_sizes, lacks_value, transformed_references, unusable_references
from gapline.reference.snapshot import Snapshot


def settle_scale(
    campaign: Campaign,
    declared: Declared,
    snapshots: Sequence[Snapshot],
    *,
    kernels: Sequence[str],
    sense: Senses = None,
    horizon: float | None = None,
    unchecked: Unchecked = Unchecked.REFUSE,
) -> Scale:
    """Choose the scale of a study: signed where Berthold's gap alone is asked for and some value is not positive."""
    scale = choose_scale(campaign, declared, sense=sense)
    if scale.hierarchical or any(parse_kernel_name(name)[0] is not KernelCode.BERTHOLD for name in kernels):
        return scale
    # Under the policy `analysis` a reference that is missing is no reason: what counts here is the sign.
    found = find_unscorable(campaign, scale, snapshots, policy=Policy.ANALYSIS, horizon=horizon, unchecked=unchecked)
    return choose_scale(campaign, declared, sense=sense, signed=True) if found else scale


def find_unscorable(
    campaign: Campaign,
    scale: Scale,
    snapshots: Sequence[Snapshot],
    *,
    policy: str | None = None,
    horizon: float | None = None,
    unchecked: Unchecked = Unchecked.REFUSE,
) -> dict[str, str]:
    """Return the instances that cannot be scored on this scale, ordered by name, each with the reason."""
    found, unsolved = unscorable_instances(campaign, scale, horizon=horizon, unchecked=unchecked)
    names, sizes = campaign.runs["instance"].unique().sort().to_list(), instance_sizes(campaign.runs)
    for snapshot in snapshots:
        values = transformed_references(snapshot, names, scale=scale, sizes=sizes)
        for name, why in unusable_references(snapshot, names, values, signed=scale.signed).items():
            # A fold takes the best of the runs where a store has no value; where nobody solved it, none is needed.
            if not (lacks_value(snapshot, name) and (policy == Policy.ANALYSIS or name in unsolved)):
                found.setdefault(name, f"reference {why}")
    return dict(sorted(found.items()))
