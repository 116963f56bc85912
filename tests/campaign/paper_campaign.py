"""The paper's campaign in full, with files in the places of its instances: nothing here can be run."""

from campaigns.paper import FULL, contract_text

FAMILIES = {"solomon": 15, "lyon": 15, "lera": 14, "paris": 14, "berlin": 14}


def write_campaign(folder):
    """Lay out 28 small and 14 or 15 large instances of each family, and the contract."""
    for family, large in FAMILIES.items():
        for size, count in ((25, 28), (200, large)):
            place = folder / "instances" / family / f"n={size}"
            place.mkdir(parents=True)
            for number in range(count):
                (place / f"{family}-{size}-{number:02}.vrp.json").write_text("{}")
    (folder / "study.toml").write_text(contract_text(FULL, name="paper"))
    return folder
