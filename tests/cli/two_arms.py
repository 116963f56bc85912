"""Traces of two arms of which the second starts later, and a study of them."""


def write_traces(path, *, slower=1.0, horizon=20, arms=("mine", "theirs")):
    rows = ["arm,instance,seed,time,objective,valid,panel,horizon"]
    for k, arm in enumerate(arms):
        for i in range(8):
            for seed in range(2):
                panel = "small" if i < 4 else "large"
                start = (1 + k + 0.1 * i + 0.05 * seed) * slower
                rows.append(f"{arm},{panel}-{i},{seed},{start},150,true,{panel},{horizon}")
                rows.append(f"{arm},{panel}-{i},{seed},{start + 2},{101 + k},true,{panel},{horizon}")
                rows.append(f"{arm},{panel}-{i},{seed},{start + 3},90,false,{panel},{horizon}")
    path.write_text("\n".join(rows) + "\n")


CONTRACT = """seeds = [0, 1]
[study]
name = "small"
[objective]
checker = "tdvrptw"
[time]
horizon = 20
[reference]
snapshot = "references.json"
policy = "analysis"
[score]
kernel = "{kernel}"
goals = [0.05]
[aggregate]
contrasts = [["mine", "theirs"]]
bootstrap = {{ draws = 77, seed = 5 }}
[[instances]]
path = "instances/small-0.vrp.json"
[[arms]]
name = "mine"
solver = "kayros"
[[arms]]
name = "theirs"
solver = "kayros"
[[arms]]
name = "coarse"
solver = "kayros"
tier = 2
"""


def write_study(folder, kernel="maxform"):
    import gapline as gl

    folder.mkdir()
    write_traces(folder / "traces.csv", arms=("mine", "theirs", "coarse"))
    campaign = gl.read(str(folder / "traces.csv"))
    campaign.save(folder / "campaign")
    names = campaign.runs["instance"].unique().to_list()
    gl.Snapshot.from_values(dict.fromkeys(names, 100.0), name="2026").save(folder / "references.json")
    (folder / "study.toml").write_text(CONTRACT.format(kernel=kernel))
