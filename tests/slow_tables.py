"""The tables of the planted campaign computed the slow, obvious way: plain Python, one run at a time, no NumPy."""

from itertools import combinations

import planted

KERNELS = {
    "squeezed": lambda x: (x - 1) / (x + 1),
    "maxform": lambda x: (x - 1) / max(x, 1),
    "berthold": lambda x: abs(x - 1) / max(x, 1),
    "dimacs:1.1": lambda x: x - 1 if x < 1.1 else 0.1,
    "dimacs:2": lambda x: x - 1 if x < 2 else 1.0,
}
BEFORE = {"squeezed": 1.0, "maxform": 1.0, "berthold": 1.0, "dimacs:1.1": 0.1, "dimacs:2": 1.0}


class Run:
    def __init__(self, arm, panel, index, seed):
        self.arm, self.panel, self.seed = arm, planted.PANELS[panel], seed
        self.instance = planted.instance_name(panel, index)
        self.events = planted.trace(arm, panel, index, seed, candidates=12, improving=False)
        self.steps = []
        for event in self.events:
            better = not self.steps or event.objective < self.steps[-1][1]
            if event.valid and event.time <= planted.HORIZON and better:
                self.steps.append((event.time, event.objective))
        self.best = self.steps[-1][1] if self.steps else None

    def score(self, kernel, reference, horizon=planted.HORIZON):
        total, now, gap = 0.0, 0.0, BEFORE[kernel]
        for time, objective in self.steps:
            if time > horizon:
                break
            total += gap * (time - now)
            now, gap = time, KERNELS[kernel](objective / reference)
        return (total + gap * (horizon - now)) / horizon


class Tables:
    def __init__(self):
        self.runs = [Run(*cell) for cell in planted.cells()]
        frozen = {
            planted.instance_name(panel, index): planted.reference_of(panel, index)
            for panel, size in enumerate(planted.SIZES)
            for index in range(size)
        }
        analysis = dict(frozen)
        for run in self.runs:
            if run.best is not None:
                analysis[run.instance] = min(analysis[run.instance], run.best)
        self.references = {"given": frozen, "analysis": analysis}
        self.panel_cache = {}

    def mean_of_panel(self, arm, panel, value):
        """Mean over instances of the mean over seeds; runs whose value is None are left out."""
        by_instance = {}
        for run in self.runs:
            if run.arm == arm and run.panel == panel and (found := value(run)) is not None:
                by_instance.setdefault(run.instance, []).append(found)
        means = [sum(values) / len(values) for values in by_instance.values()]
        return sum(means) / len(means) if means else None

    def panel_means(self, kernel, reference, horizon=planted.HORIZON):
        key = (kernel, reference, horizon)
        if key not in self.panel_cache:
            values = self.references[reference]
            table = {}
            for run in self.runs:
                score = run.score(kernel, values[run.instance], horizon)
                table.setdefault((run.arm, run.panel), {}).setdefault(run.instance, []).append(score)
            self.panel_cache[key] = {
                cell: sum(sum(s) / len(s) for s in by_instance.values()) / len(by_instance)
                for cell, by_instance in table.items()
            }
        return self.panel_cache[key]

    def pooled(self, arm, kernel, reference, horizon=planted.HORIZON):
        means = self.panel_means(kernel, reference, horizon)
        return sum(means[arm, panel] for panel in planted.PANELS) / len(planted.PANELS)

    def order(self, a, b, panel, kernel, reference):
        means = self.panel_means(kernel, reference)
        difference = means[a, panel] - means[b, panel]
        return 0 if abs(difference) < 1e-12 else (1 if difference > 0 else -1)

    def reversals(self, before, after):
        arms = [arm for arm in planted.ARMS if arm != "sliced"]
        return {
            (panel, a, b)
            for panel in planted.PANELS
            for a, b in combinations(arms, 2)
            if self.order(a, b, panel, *before) * self.order(a, b, panel, *after) < 0
        }
