"""The paper's campaign as one contract: 212 instances in ten panels, five arms, two ladders."""

FAMILIES = {"solomon": 15, "lyon": 15, "lera": 14, "paris": 14, "berlin": 14}
CONTRACT = """
seeds = 10
[study]
name = "paper"
[objective]
checker = "tdvrptw"
[time]
horizon = 3600
[[instances]]
path = "instances/*/n=*/*.vrp.json"
panel = "{1} n={2}"
size = "{2}"
[[where]]
size = ">50"
seeds = 5
[[arms]]
name = "kayros"
solver = "kayros"
[[arms]]
name = "timefold"
solver = "timefold"
[[arms]]
name = "jsprit"
solver = "jsprit"
[[arms]]
name = "hexaly"
solver = "hexaly"
[[arms]]
name = "hexaly sliced"
solver = "hexaly"
tier = 2
options = {slices = 96}
[[arms]]
name = "hexaly {slices} slices"
solver = "hexaly"
tier = 2
ladder = {slices = [5, 24, 96]}
instances = ["solomon-25-0[0-5]"]
[[arms]]
name = "hexaly {threads} threads"
solver = "hexaly"
tier = 2
options = {slices = 96}
ladder = {threads = [1, 2, 4, 8, 16]}
instances = ["lyon-25-0*"]
"""


def write_campaign(folder):
    """Lay out 28 small and 14 or 15 large instances of each family, and the contract."""
    for family, large in FAMILIES.items():
        for size, count in ((25, 28), (200, large)):
            place = folder / "instances" / family / f"n={size}"
            place.mkdir(parents=True)
            for number in range(count):
                (place / f"{family}-{size}-{number:02}.vrp.json").write_text("{}")
    (folder / "study.toml").write_text(CONTRACT)
    return folder
