"""A small CVRP whose prices are worked out by hand: a rectangle of 4 by 3, two customers to a vehicle."""

VRP = """NAME : square
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 2
NODE_COORD_SECTION
1 0 0
2 0 3
3 4 3
4 4 0
DEMAND_SECTION
1 0
2 1
3 1
4 1
DEPOT_SECTION
1
-1
EOF
"""
# 3 + 4 + 5 for the first route, 4 + 4 for the second.
COST = 20.0
GOOD, OVERLOADED = "Route #1: 1 2\nRoute #2: 3\n", "Route #1: 1 2 3\n"


def put_solution(folder, name, routes, cost, *, instance=True):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.sol").write_text(f"{routes}Cost {cost}\n")
    if instance:
        (folder / f"{name}.vrp").write_text(VRP.replace("square", name))
