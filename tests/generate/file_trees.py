"""Files for tests: a tree in memory, and instances in it by name alone."""

import json

from gapline.generate.routing import cvrp_files, vrptw_files

VRPLIB = "NAME : {0}\nTYPE : {1}\nDIMENSION : {2}\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 9\n"


class Tree:
    """A tree of files that lie in memory; None stands for content that was not fetched."""

    def __init__(self, files, root=""):
        self.files, self.root = files, root

    @property
    def paths(self):
        return self.files.keys()

    def read(self, paths):
        return (self.files[path] for path in paths)

    def sizes(self, paths):
        return (None if self.files[path] is None else len(self.files[path]) for path in paths)


def cvrp(name, size):
    folder, slash, stem = name.rpartition("/")
    return {folder + slash + file: data for file, data in cvrp_files(stem, size).items()}


def solomon(name, size):
    folder, slash, stem = name.rpartition("/")
    return {folder + slash + file: data for file, data in vrptw_files(stem, size).items()}


def mamut(name, size, *, atf=b"functions", td=True, **more):
    """A MAMUT instance and its sidecar, as far as they are looked at when a study is laid out."""
    stem = name.rpartition("/")[2]
    document = {"num_customers": size} | ({"td": {"atf_path": f"{stem}.atf.json.gz"}} if td else {}) | more
    return {f"{name}.vrp.json": json.dumps(document).encode(), f"{name}.atf.json.gz": atf}
