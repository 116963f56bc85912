"""A chain of three snapshots, written into a folder, whose steps are known by hand."""

import gapline as gl


def make_chain(folder, *, hostile="a paper"):
    """January, February (a run improves `a`, somebody proves `b`), March (a letter improves `a` and adds `c`)."""
    january = gl.Snapshot.from_values({"a": 10.0, "b": 5.0}, name="january", source=hostile, as_of="2026-01-31")
    entries = {name: entry.document() for name, entry in january.values.items()}
    run = "run deep/a/1 at 3 s, valid by checker"
    entries["a"] = {"value": 9.0, "certified": False, "source": run, "fold": {"arm": "deep", "run": "deep/a/1"}}
    entries["b"] |= {"certified": True, "source": "a proof", "provenance": {"authors": "B. Prover"}}
    february = january.child(entries, name="february", as_of="2026-02-28", fold={})
    letter = gl.Snapshot.from_values({"a": 8.0, "c": 1.0}, name="letter", source="a letter")
    march = gl.fold_snapshot(february, letter, name="march", as_of="2026-03-31", add=True, trust_solver=True)
    january.save(folder / "january.json")
    february.save(folder / "february.json")
    return march.save(folder / "march.json")
