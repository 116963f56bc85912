"""Small campaigns at the edges: unbalanced, tied, empty, of one arm, seed or run."""


def run(arm, instance, seed, trace, *, panel="p", **more):
    return {"arm": arm, "panel": panel, "instance": instance, "seed": seed, "horizon": 10.0, "trace": trace} | more


CASES = {
    "unbalanced": [
        run("a", "i", 1, [(1, 12.0)]), run("a", "i", 2, [(2, 12.0)]), run("a", "j", 1, [(1, 15.0)]),
        run("b", "i", 1, [(3, 11.0)]), run("b", "k", 1, [(3, 11.0)], panel="q"),
    ],
    "one instance per panel": [run(a, i, s, [(s, 20.0)], panel=i) for a in "ab" for i in "ij" for s in (1, 2)],
    "only empty runs in one arm": [run("a", i, 1, []) for i in "ij"] + [run("b", i, 1, [(1, 11.0)]) for i in "ij"],
    "only empty runs": [run(a, i, 1, []) for a in "ab" for i in "ij"],
    "ties": [run(a, i, s, [(1, 12.0)]) for a in "ab" for i in "ij" for s in (1, 2)],
    "one seed": [run(a, i, 1, [(k + 1, 12.0 + k)]) for k, a in enumerate("ab") for i in "ijk"],
    "one arm": [run("a", i, s, [(s, 12.0)]) for i in "ij" for s in (1, 2)],
    "one run": [run("a", "i", 1, [(1, 12.0)])],
    "no common instance": [run("a", "i", 1, [(1, 12.0)]), run("b", "j", 1, [(1, 12.0)])],
    "overflow": [run("a", "i", 1, [(1, 1e308)]), run("b", "i", 1, [(1, 12.0)]),
                 run("a", "j", 1, []), run("b", "j", 1, [])],
    "reference beaten at once": [run(a, i, 1, [(0, 5.0)]) for a in "ab" for i in "ij"],
}  # fmt: skip
