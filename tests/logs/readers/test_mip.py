"""MIP logs: pasted logs of eight solvers with every trap. Those that solvers write stand in `test_mip_agreement.py`."""

import math
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import bounds, candidates, mutated, read_log, read_or_refuse, survive
from gapline.contract.tables import VerdictCode
from gapline.errors import EnvironmentLacksError, TraceError
from gapline.files.open_file import VARIABLE
from gapline.logs.importer import import_logs
from gapline.logs.readers import mip
from gapline.logs.readers.mip import READER
from gapline.testing.readers import ReaderConformance, check_variants
from profiles import examples

GUROBI = """
Gurobi 12.0.1 (linux64) logging started Sat Mar  1 10:00:00 2025

Set parameter TimeLimit to value 60
Set parameter Seed to value 3
Set parameter LogFile to value "grb.log"
Gurobi Optimizer version 12.0.1 build v12.0.1rc0 (linux64 - "Ubuntu 22.04.4 LTS")

CPU model: ordinary processor, instruction set [SSE2|AVX|AVX2]
Thread count: 2 physical cores, 2 logical processors, using up to 2 threads

Read MPS format model from file instances/yard7.mps.gz
Reading time = 0.01 seconds
yard7: 396 rows, 322 columns, 1815 nonzeros
Optimize a model with 396 rows, 322 columns and 1815 nonzeros
Model fingerprint: 0x18b19fdf
Variable types: 20 continuous, 302 integer (302 binary)
Coefficient statistics:
  Matrix range     [1e+00, 8e+06]
  Objective range  [1e+00, 1e+06]
  Bounds range     [1e+00, 8e+02]
  RHS range        [1e+00, 8e+06]
Found heuristic solution: objective 3.133357e+09
Presolve removed 6 rows and 6 columns
Presolve time: 0.01s
Presolved: 390 rows, 316 columns, 1803 nonzeros
Variable types: 19 continuous, 297 integer (297 binary)
Found heuristic solution: objective 3.000031e+09

Root relaxation: objective 8.000024e+08, 72 iterations, 0.00 seconds (0.00 work units)

    Nodes    |    Current Node    |     Objective Bounds      |     Work
 Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap | It/Node Time

     0     0 8.0000e+08    0   72 3.0000e+09 8.0000e+08  73.3%     -    0s
H    0     0                    2.400020e+09 8.0000e+08  66.7%     -    0s
     0     2 8.0000e+08    0   72 2.4000e+09 8.0000e+08  66.7%     -    0s
H  312   201                    2.200017e+09 8.0000e+08  63.6%   8.1    1s
*  552   404              65    2.100015e+09 8.0001e+08  61.9%   7.5    2s
  4120  2206 1.2000e+09   41   33 2.1000e+09 8.5000e+08  59.5%   6.2    5s
  9120  2206     cutoff   41      2.1000e+09 8.6000e+08  59.0%   6.2   10s
H 9300  1201                    1.600013e+09 9.0000e+08  43.7%   6.0   12s
 13242  5051 1.1000e+09   30   12 1.6000e+09 9.0000e+08  43.7%   6.0   60s

Cutting planes:
  Gomory: 10
  MIR: 3

Explored 13242 nodes (82012 simplex iterations) in 60.01 seconds (31.25 work units)
Thread count was 2 (of 2 available processors)

Solution count 6: 1.60001e+09 2.10002e+09 2.20002e+09 ... 3.13336e+09

Time limit reached
Best objective 1.600012700000e+09, best bound 9.000031250000e+08, gap 43.7503%
"""

CPLEX = """Welcome to IBM(R) ILOG(R) CPLEX(R) Interactive Optimizer 12.8.0.0
Problem 'yard7.mps.gz' read.
Read time = 0.01 sec. (0.52 ticks)
CPXPARAM_TimeLimit                               60
Tried aggregator 1 time.
Found incumbent of value 3133.000000 after 0.01 sec. (0.52 ticks)
MIP Presolve eliminated 6 rows and 6 columns.
Presolve time = 0.01 sec. (1.20 ticks)
MIP emphasis: balance optimality and feasibility.
MIP search method: dynamic search.
Root relaxation solution time = 0.00 sec. (2.10 ticks)

        Nodes                                         Cuts/
   Node  Left     Objective  IInf  Best Integer    Best Bound    ItCnt     Gap

*     0+    0                         3133.0000        0.0000           100.00%
      0     0      800.0024    72     3133.0000      800.0024       72   74.47%
*     0+    0                         2400.0200      800.0024            66.67%
      0     2      800.0024    72     2400.0200      800.0024       72   66.67%
Elapsed time = 0.40 sec. (100.10 ticks, tree = 0.01 MB, solutions = 2)
*   552   404      integral     0     2100.0150      800.0100     4120   61.90%
   4120  2206     1200.0000    41     2100.0150      850.0000    30120   59.52%
Elapsed time = 3.10 sec. (1100.10 ticks, tree = 1.01 MB, solutions = 3)

Root node processing (before b&c):
  Real time             =    0.30 sec. (90.10 ticks)
Total (root+branch&cut) =   60.01 sec. (9000.20 ticks)

Solution pool: 3 solutions saved.

MIP - Time limit exceeded, integer feasible:  Objective =  2.1000150000e+03
Current MIP best bound =  8.6000000000e+02 (gap = 1240.02, 59.05%)
Solution time =   60.01 sec.  Iterations = 82012  Nodes = 13242 (5051)
Deterministic time = 9000.20 ticks  (150.00 ticks/sec)
"""

CBC = """Welcome to the CBC MILP Solver 
Version: 2.10.8 
Build Date: Jan  1 2022 

command line - cbc yard7.mps -seconds 60 -solve (default strategy 1)
Continuous objective value is 800.002 - 0.01 seconds
Cbc0045I Nauty did not find any useful orbits in time 0.001
Cbc0012I Integer solution of 3133 found by DiveCoefficient after 0 iterations and 0 nodes (0.02 seconds)
Cbc0010I After 0 nodes, 1 on tree, 3133 best solution, best possible 800.002 (0.05 seconds)
Cbc0004I Integer solution of 2400.5 found after 230 iterations and 10 nodes (0.10 seconds)
Cbc0010I After 100 nodes, 51 on tree, 2400.5 best solution, best possible 850 (1.05 seconds)
Cbc0016I Integer solution of 2100 found by strong branching after 500 iterations and 150 nodes (2.10 seconds)
Cbc0020I Exiting on maximum time
Cbc0005I Partial search - best objective 2100 (best possible 860), took 82012 iterations and 13242 nodes (60.02 seconds)

Result - Stopped on time limit

Objective value:                2100.00000000
Lower bound:                    860.000
Gap:                            1.44
Enumerated nodes:               13242
Total iterations:               82012
Time (CPU seconds):             60.02
Time (Wallclock seconds):       60.11

Total time (CPU seconds):       60.02   (Wallclock seconds):       60.11
"""  # noqa: W291 - as the solver prints it

XPRESS = """FICO Xpress Solver 64bit v9.4.2 Aug 20 2024
Copyright Fair Isaac Corporation 1983-2024. All rights reserved
 [xpress yard7.mps]
Reading Problem yard7
Problem Statistics
         396 (      0 spare) rows
         322 (      0 spare) structural columns
Minimizing MILP yard7 using up to 2 threads and up to 8GB memory, with these control settings:
MAXTIME = -60
Original problem has:
       396 rows          322 cols         1815 elements       302 entities
Presolved problem has:
       390 rows          316 cols         1803 elements       297 entities
Presolve finished in 0 seconds
Heap usage: 1MB (peak 1MB, 0KB system)

Will try to keep branch and bound tree memory usage below 6.0GB
 *** Solution found:  3133.000000   Time:   0    Heuristic: e ***

Starting concurrent solve with dual

Starting root cutting & heuristics
Deterministic mode with up to 2 additional threads

 Its Type    BestSoln    BestBound   Sols    Add    Del     Gap     GInf   Time
a         2400.000000   800.002400      2                 66.67%       0      0
   1  K   2400.000000   801.002400      2     10      0   66.62%      50      0
b         2100.000000   801.002400      3                 61.86%       0      1

Starting tree search.
Deterministic mode with up to 2 running threads and up to 4 tasks.

    Node     BestSoln    BestBound   Sols Active  Depth     Gap     GInf   Time
       1  2100.000000   801.002400      3      2      1   61.86%      50      1
      10  2100.000000   850.002400      3      2      4   59.52%      20      5
*     55  1600.000000   850.002400      4     12     14   46.88%       0     11
 *** Search unfinished ***    Time:    60 Nodes:        612
Number of integer feasible solutions found is 4
Best integer solution found is  1600.000000
Best bound is  900.002400
Uncrunching matrix
"""

COPT = """Cardinal Optimizer v8.0.1. Build date Jan  1 2026
Copyright Cardinal Operations 2026. All Rights Reserved

Setting parameter 'TimeLimit' to 60
Reading from 'yard7.mps'
Reading finished (0.01s)
Model fingerprint: 18b19fdf

Using Cardinal Optimizer v8.0.1 on Linux
Hardware has 2 cores and 2 threads. Using instruction set X86_AVX2 (10)
Minimizing a MIP problem

The original problem has:
    396 rows, 322 columns and 1815 non-zero elements
    302 binaries

Starting the MIP solver with 2 threads and 4 tasks

Presolving the problem

The presolved problem has:
    390 rows, 316 columns and 1803 non-zero elements
    297 binaries

     Nodes    Active  LPit/n  IntInf     BestBound  BestSolution    Gap   Time
         0         1      --       0  0.000000e+00            --    Inf  0.02s
H        0         1      --       0  0.000000e+00  3.133000e+03  100%  0.03s
         0         1      --      72  8.000024e+02  3.133000e+03 74.5%  0.05s
H        0         1      --      72  8.000024e+02  2.400020e+03 66.7%  0.12s
        10         5    20.1      30  8.500000e+02  2.400020e+03 64.6%  1.20s
*       55        12    18.1       0  8.500000e+02  1.600000e+03 46.9%  11.1s
       612       100    10.1      10  9.000024e+02  1.600000e+03 43.7%  60.0s

Best solution   : 1600.000000000
Best bound      : 900.002400000
Best gap        : 43.7498%
Solve time      : 60.02
Solve node      : 612
MIP status      : stopped (time limit reached)
Solution status : integer feasible

Violations      :     absolute     relative
  bounds        :            0            0
"""

MOSEK = """MOSEK Version 11.0.1 (Build date: 2025-01-01 10:00:00)
Copyright (c) MOSEK ApS, Denmark WWW: mosek.com
Platform: Linux/64-X86

Open file 'yard7.mps'

Problem
  Name                   : yard7
  Objective sense        : minimize
  Type                   : LO (linear optimization problem)
  Constraints            : 396
  Scalar variables       : 322
  Integer variables      : 302

Optimizer started.
Mixed integer optimizer started.
Threads used: 2
Presolve started.
Presolve terminated. Time = 0.01, probing time =  0.00
Presolved problem: 316 variables, 390 constraints, 1803 non-zeros
BRANCHES RELAXS   ACT_NDS  DEPTH    BEST_INT_OBJ         BEST_RELAX_OBJ       REL_GAP(%)  TIME  
0        0        1        0        3.1330000000e+03     NA                   NA          0.0   
0        1        1        0        2.4000200000e+03     8.0000240000e+02     66.67       0.1   
10       11       9        3        2.4000200000e+03     8.5000000000e+02     64.58       1.2   
55       60       12       14       1.6000000000e+03     8.5000000000e+02     46.88       11.1  
An optimal solution satisfying the relative gap tolerance of 1.00e-02(%) has been located.
The relative gap is 0.00e+00(%).

Objective of best integer solution : 1.600000000000e+03      
Best objective bound               : 1.600000000000e+03      
Number of relaxations solved       : 612
Number of branches                 : 600
Mixed integer optimizer terminated. Time: 20.12

Optimizer terminated. Time: 20.12
"""  # noqa: W291 - as the solver prints it

SCIP = """SCIP version 9.2.0 [precision: 8 byte] [memory: block] [mode: optimized] [LP solver: SoPlex 7.1.2] [GitHash: 0]
read problem <models/yard7.mps.gz>
limits/time = 90000
randomization/randomseedshift = 5
original problem has 60 variables (60 bin, 0 int, 0 impl, 0 cont) and 15 constraints
feasible solution found by trivial heuristic after 0.3 seconds, objective value 9.000000e+06
presolving:
presolved problem has 60 variables (60 bin, 0 int, 0 impl, 0 cont) and 15 constraints

 time | node  | left  |LP iter|LP it/n|mem/heur|mdpt |vars |cons |rows |cuts |sepa|confs|strbr|  dualbound   | primalbound  |  gap   | compl. 
  0.5s|     1 |     0 |    21 |     - |  1870k |   0 |  60 |  15 |  15 |   0 |  0 |   0 |   0 | 1.567867e+06 |      --      |    Inf | unknown
r 0.9s|     1 |     0 |    21 |     - |simplero|   0 |  60 |  15 |  15 |   0 |  0 |   0 |   0 | 1.567867e+06 | 5.201000e+06 |  30.55%| unknown
r 0.9s|     1 |     0 |    21 |     - |randroun|   0 |  60 |  15 |  15 |   0 |  0 |   0 |   0 | 1.567867e+06 | 4.503000e+06 |   4.32%| unknown
* 120s|   100 |    20 |  1000 |   9.0 |strongbr|  12 |  60 |  15 |  15 |   0 |  0 |   0 |   0 | 1.600000e+06 | 3.503000e+06 |   4.32%|  40.00%
d12.5m|   900 |    20 |  9000 |   9.0 |coefdivi|  12 |  60 |  15 |  15 |   0 |  0 |   0 |   0 | 1.700000e+06 | 2.150344e+06 |   4.32%|  60.00%
  3.2h|  9000 |    20 | 90000 |   9.0 |    46M |  21 |  60 |  15 |  28 |   0 |  0 | 533 | 274 | 1.800000e+06 | 2.150344e+06 |   0.81%|  66.85%

SCIP Status        : solving was interrupted [time limit reached]
Solving Time (sec) : 90000.00
Solving Nodes      : 9990
Primal Bound       : +2.15034440000000e+06 (5 solutions)
Dual Bound         : +1.90000000000000e+06
Gap                : 13.18 %
"""  # noqa: E501, W291 - as the solver prints it

HIGHS = """Running HiGHS 1.12.0 (git hash: 0000000): Copyright (c) 2025 HiGHS under MIT licence terms
Set option time_limit to 12.5
Set option random_seed to 4
MIP yard7 has 15 rows; 60 cols; 900 nonzeros; 60 integer variables (60 binary)
MIP start solution is feasible, objective value is 100

        Nodes      |    B&B Tree     |            Objective Bounds              |  Dynamic Constraints |       Work      
Src  Proc. InQueue |  Leaves   Expl. | BestBound       BestSol              Gap |   Cuts   InLp Confl. | LpIters     Time

         0       0         0   0.00%   inf             100                Large        0      0      0         0     0.2s
 J       0       0         0   0.00%   inf             310                Large        0      0      0         0     0.4s
 R       0       0         0   0.00%   1567.866975     1213              29.26%        0      0      0        17     1.1s
 L      12       3         0   1.00%   1562.749785     1525               2.41%      411     14      4        72     1.1s
        99      23         0   5.00%   1560            1525               2.30%      411     14      4      850k    13.0s

Solving report
  Model             yard7
  Status            Time limit reached
  Primal bound      1525
  Dual bound        1560
  Gap               2.3% (tolerance: 0.01%)
  Solution status   feasible
                    1525 (objective)
  Timing            13.01
"""  # noqa: E501, W291 - as the solver prints it

ALL = {
    "gurobi": GUROBI,
    "cplex": CPLEX,
    "cbc": CBC,
    "xpress": XPRESS,
    "copt": COPT,
    "mosek": MOSEK,
    "scip": SCIP,
    "highs": HIGHS,
}


CLOSING = (
    "Best objective",
    "Explored",
    "SCIP Status",
    "Solving report",
    "MIP - ",
    "Result - ",
    "Cbc0005I",
    " *** Search",
    "MIP status",
    "Optimizer term",
    "Total (root",
)


def test_gurobi_early_incumbents_stand_before_the_rows_that_follow_them():
    """Order in the file is order in time: both come before the rows of the first second, and share its doubt."""
    found = read_log(READER, GUROBI)
    (run,) = found.runs
    assert (run.arm, run.instance, run.seed, run.horizon) == ("gurobi-12.0.1", "yard7", 3, 60.0)
    assert (run.sense, run.clock, run.resolution, run.status) == ("min", "wall", 1.0, "time-limit")
    assert candidates(run) == [
        (0.0, 3.133357e9),
        (0.0, 3.000031e9),
        (0.0, 2.400020e9),
        (1.0, 2.200017e9),
        (2.0, 2.100015e9),
        (12.0, 1.6000127e9),
    ]
    assert run.carried == {
        "solver": "gurobi", "solver_version": "12.0.1", "untimed": 2, "untimed_until": 0.0, "value_resolution": 1e-3,
        "bound_resolution": 1e-4, "claim": None,
    }  # fmt: skip
    assert mip.UNTIMED_NOTE in found.notes
    assert bounds(run)[-1] == (60.01, 900003125.0)


def test_gurobi_incumbent_long_before_the_first_stamp_widens_the_resolution():
    """Its next stamp is 4s, so it lies in [0, 5): it stands at 4, which may be 5 seconds off."""
    (run,) = read_log(READER, GUROBI.replace(" -    0s", " -    4s").replace("8.1    1s", "8.1    4s")).runs
    assert candidates(run)[:3] == [(4.0, 3.133357e9), (4.0, 3.000031e9), (4.0, 2.400020e9)]
    assert run.resolution == 5.0


def test_gurobi_incumbent_of_a_run_without_rows_stands_at_its_end():
    text = GUROBI[: GUROBI.index("Root relaxation")] + (
        "Explored 0 nodes (0 simplex iterations) in 0.21 seconds (0.10 work units)\n"
        "Optimal solution found (tolerance 1.00e-04)\n"
        "Best objective 3.000031000000e+09, best bound 3.000031000000e+09, gap 0.0000%\n"
    )
    (run,) = read_log(READER, text).runs
    assert candidates(run) == [(0.21, 3.133357e9), (0.21, 3.000031e9)]
    assert (run.status, run.resolution) == ("finished", 0.21)


def test_gurobi_incumbent_without_any_later_stamp_is_rejected_and_counted():
    found = read_log(READER, GUROBI[: GUROBI.index("Presolve removed")])
    (run,) = found.runs
    assert candidates(run) == []
    assert run.reason == ["time missing"]
    assert run.status == "killed"
    assert "run.log:23: expected a time of 0 or more, got nothing" in found.problems[0]


def test_gurobi_norel_stamps_bound_the_incumbents_before_them():
    text = GUROBI.replace(
        "Root relaxation:",
        "Starting NoRel heuristic\nFound heuristic solution: objective 2.9e+09\n"
        "Elapsed time for NoRel heuristic: 5s (best bound 7.0e+08)\nRoot relaxation:",
    ).replace(" 0s\n", " 6s\n")
    (run,) = read_log(READER, text).runs
    assert candidates(run)[:3] == [(5.0, 3.133357e9), (5.0, 3.000031e9), (5.0, 2.9e9)]
    assert (5.0, 7.0e8) in bounds(run)
    assert run.resolution == 6.0


def test_gurobi_start_solution_has_its_own_stamp():
    text = GUROBI.replace(
        "Found heuristic solution: objective 3.133357e+09",
        "User MIP start produced solution with objective 3.133357e+09 (0.02s)",
    )
    assert (0.02, 3.133357e9) in candidates(read_log(READER, text).runs[0])


def test_rounded_repeats_are_no_candidates_and_the_last_incumbent_takes_the_final_digits():
    """The row 1.6000e+09 would beat the real 1600012700, and 1.600013e+09 is that value with fewer digits."""
    (run,) = read_log(READER, GUROBI).runs
    values = [value for _, value in candidates(run)]
    assert 1.6e9 not in values
    assert 2.4e9 not in values
    assert values[-1] == 1600012700.0


def values(run):
    return [value for _, value in candidates(run)]


@pytest.mark.slow
def test_gurobi_logtools_reads_the_same_rows(tmp_path):
    import gurobi_logtools

    path = tmp_path / "yard7.log"
    path.write_text(GUROBI, encoding="utf-8")
    theirs = gurobi_logtools.parse(str(path))
    tree = theirs.progress("nodelog")
    (run,) = read_log(READER, GUROBI).runs
    rows = tree[:-1]
    marked = rows[rows["NewSolution"].notna()]
    early = theirs.progress("pretreesols")["Incumbent"].tolist()
    ours = [candidate for candidate in candidates(run) if candidate[1] not in early]
    assert candidates(run)[: len(early)] == [(0.0, value) for value in early]
    shown = list(zip(marked["Time"].astype(float), marked["Incumbent"].astype(float), strict=True))
    assert ours[:-1] == shown[:-1]
    assert ours[-1][0] == shown[-1][0]
    assert ours[-1][1] == float(tree["Incumbent"].iloc[-1])
    their_bounds = list(zip(tree["Time"].astype(float), tree["BestBd"].astype(float), strict=True))
    assert bounds(run) == their_bounds
    summary = theirs.summary().iloc[0]
    assert (summary["Status"], summary["ObjVal"], summary["ObjBound"]) == ("TIME_LIMIT", values(run)[-1], 900003125.0)
    assert (run.status, run.horizon, run.seed) == ("time-limit", summary["TimeLimit (Parameter)"], summary["Seed"])


def test_scip_minutes_hours_and_the_incumbent_before_the_table():
    (run,) = read_log(READER, SCIP).runs
    assert (run.arm, run.instance, run.seed, run.horizon) == ("scip-9.2.0", "yard7", 5, 90000.0)
    assert (run.sense, run.status, run.clock) == ("min", "time-limit", "wall")
    assert candidates(run) == [(0.3, 9e6), (0.9, 5.201e6), (0.9, 4.503e6), (120.0, 3.503e6), (750.0, 2150344.4)]
    # A tenth of a minute is the coarsest stamp of an incumbent; the hours belong to a bound.
    assert run.resolution == pytest.approx(6.0)
    assert bounds(run)[0] == (0.5, 1.567867e6)
    assert bounds(run)[-1] == (90000.0, 1.9e6)


def test_scip_on_a_cpu_clock_says_so_and_keeps_its_end():
    (run,) = read_log(READER, SCIP.replace("limits/time", "timing/clocktype = 1\nlimits/time")).runs
    assert run.clock == "cpu"
    assert bounds(run)[-1] == (90000.0, 1.9e6)


def test_scip_rows_with_seven_digits_that_repeat_the_optimum_are_not_better_than_it():
    """2.150344e+06 stands for the final 2150344.4; a row that is rounded to the better side takes its digits too."""
    again = (
        "d12.6m|   950 |    20 |  9000 |   9.0 |coefdivi|  12 |  60 |  15 |  15 |   0 |  0 |   0 |   0 | 1.700000e+06 "
        "| 2.150344e+06 |   4.32%|  60.00%\n  3.2h|"
    )
    (run,) = read_log(READER, SCIP.replace("  3.2h|", again)).runs
    assert candidates(run)[-2:] == [(750.0, 2150344.4), (756.0, 2150344.4)]
    assert run.carried["value_resolution"] == pytest.approx(1e-8)


def test_highs_maximises_here():
    (run,) = read_log(READER, HIGHS).runs
    assert (run.arm, run.instance, run.seed, run.horizon) == ("highs-1.12.0", "yard7", 4, 12.5)
    assert (run.sense, run.status, run.resolution) == ("max", "time-limit", pytest.approx(0.3))
    # The start solution has no stamp: it stands at the first row, and may be 0.3 seconds off.
    assert candidates(run) == [(0.2, 100), (0.4, 310), (1.1, 1213), (1.1, 1525)]
    assert bounds(run) == [(1.1, 1567.866975), (1.1, 1562.749785), (13.0, 1560), (13.01, 1560)]


def test_highs_past_a_million_nodes_marks_no_incumbent_by_the_letter_of_a_count():
    counts = "411     14      4     2850k"
    rows = (
        f"     1001k      23     2100k   5.00%   1560            1525               2.30%      {counts}     9.0s\n"
        f" T   1002k      23     2100k   5.00%   1560            1530               1.96%      {counts}     9.5s\n"
    )
    text = HIGHS.replace("        99      23", rows + "        99      23").replace("1525\n  Dual", "1530\n  Dual")
    (run,) = read_log(READER, text.replace("git hash: 0000000", "git hash: n/a")).runs
    assert candidates(run)[-2:] == [(1.1, 1525), (9.5, 1530)]
    assert run.arm == "highs-1.12.0"


def test_highs_leaves_out_zeros_so_1525_is_printed_to_its_tenth_digit():
    """Read as give or take one half, 1525 would repeat 1525.3, and the better solution would come at the end alone."""
    text = HIGHS.replace("1567.866975     1213              29.26%", "1567.866975     1525.3             2.79%")
    text = text.replace("1525    ", "1526    ").replace("bound      1525", "bound      1526")
    (run,) = read_log(READER, text).runs
    assert candidates(run) == [(0.2, 100), (0.4, 310), (1.1, 1525.3), (1.1, 1526)]
    assert run.carried["value_resolution"] == pytest.approx(1e-8)


def test_cplex_rows_have_no_stamp_and_stand_at_the_next_one():
    """The interval before 3.10 is the widest that holds an incumbent: from 0.40 to 3.11."""
    (run,) = read_log(READER, CPLEX).runs
    assert (run.arm, run.instance, run.horizon, run.status) == ("cplex-12.8.0.0", "yard7", 60.0, "time-limit")
    assert candidates(run) == [(0.01, 3133), (0.4, 2400.02), (3.1, 2100.015)]
    assert run.carried["untimed"] == 2
    assert run.resolution == pytest.approx(2.71)
    assert (3.1, 850.0) in bounds(run)


def test_cplex_after_its_last_stamp_finds_nothing_beyond_its_limit():
    """The books are closed at 60.01 and the limit was 60: the two incumbents after 3.10 were found by then."""
    late = (
        "\n*  9001+ 5051                         1800.0000      855.0000            52.50%"
        "\n*123456+234567                        1600.5000      860.0000            46.27%\n\nRoot node"
    )
    text = CPLEX.replace("\n\nRoot node", late).replace("2.1000150000e+03", "1.6005000000e+03")
    (run,) = read_log(READER, text).runs
    assert candidates(run)[-2:] == [(60.0, 1800), (60.0, 1600.5)]
    assert bounds(run)[-1] == (60.01, 860)
    assert run.resolution == pytest.approx(56.9)


def test_cplex_rows_whose_gap_is_dashes_are_rows():
    text = CPLEX.replace("66.67%\n      0     2", "   ---\n      0     2").replace("74.47%", "   ---")
    assert candidates(read_log(READER, text).runs[0]) == candidates(read_log(READER, CPLEX).runs[0])
    before = "      0     0      700.0000    80                   700.0000       36         \n"
    text = CPLEX.replace("      0     0      800.0024", before + "      0     0      800.0024")
    assert (0.4, 700.0) in bounds(read_log(READER, text).runs[0])


@pytest.mark.parametrize(("limit", "status"), [("60", "time-limit"), ("7200", "unknown")])
def test_cplex_of_a_library_call_ends_without_a_word_on_why(limit, status):
    text = CPLEX[: CPLEX.index("\nSolution pool")].replace(
        "TimeLimit                               60", f"TimeLimit  {limit}"
    )
    (run,) = read_log(READER, text[text.index("CPXPARAM") :]).runs
    assert (run.arm, run.status) == ("cplex", status)
    assert candidates(run)[-1] == (3.1, 2100.015)
    assert run.carried["value_resolution"] == pytest.approx(1e-4)


def test_cplex_that_ran_out_of_memory_says_so_before_the_lp_of_the_fixed_model():
    tail = "CPLEX Error  1001: Out of memory.\n" + "\n" * 30 + "CPXPARAM_TimeLimit   60\n" + "Iteration: 1\n" * 30
    (run,) = read_log(READER, CPLEX[: CPLEX.index("\nSolution pool")] + tail).runs
    assert run.status == "memory-limit"


def test_cplex_that_proved_optimality_prints_no_bound_and_has_one():
    text = CPLEX.replace("MIP - Time limit exceeded, integer feasible:", "MIP - Integer optimal solution:")
    text = "\n".join(line for line in text.splitlines() if "best bound" not in line)
    (run,) = read_log(READER, text).runs
    assert (run.status, bounds(run)[-1]) == ("finished", (60.01, 2100.015))


def test_cbc_counts_processor_time_unless_told_otherwise():
    (run,) = read_log(READER, CBC).runs
    assert (run.arm, run.instance, run.horizon, run.clock) == ("cbc-2.10.8", "yard7", 60.0, "cpu")
    assert candidates(run) == [(0.02, 3133), (0.1, 2400.5), (2.1, 2100)]
    assert bounds(run) == [(0.05, 800.002), (1.05, 850), (60.02, 860)]
    assert read_log(READER, CBC.replace("-seconds", "-timem elapsed -seconds")).runs[0].clock == "wall"


def test_cbc_that_maximises_the_negative_is_turned_upright():
    """It shows -811 where its final objective is 811, and its bounds are negated too."""
    text = CBC.replace("of 3133 found", "of -3133 found").replace("of 2400.5 found", "of -3300.5 found")
    text = text.replace("of 2100 found", "of -3400 found").replace("3133 best", "-3133 best")
    text = text.replace("2400.5 best", "-3300.5 best").replace("possible 800.002", "possible -4000")
    text = text.replace("possible 850 ", "possible -3900 ").replace("2100.00000000", "3400.00000000")
    (run,) = read_log(READER, text.replace("Lower bound:                    860.000", "Upper bound:    3800.000")).runs
    assert candidates(run) == [(0.02, 3133), (0.1, 3300.5), (2.1, 3400)]
    assert bounds(run) == [(0.05, 4000), (1.05, 3900), (60.02, 3800)]
    assert run.sense == "max"


def test_xpress_reads_both_tables_and_announced_solutions():
    (run,) = read_log(READER, XPRESS).runs
    assert (run.arm, run.instance, run.horizon, run.resolution) == ("xpress-9.4.2", "yard7", 60.0, 1.0)
    assert candidates(run) == [(0, 3133), (0, 2400), (1, 2100), (11, 1600)]
    assert bounds(run)[-1] == (60.0, 900.0024)


@pytest.mark.parametrize(
    ("banner", "second", "arm"),
    [
        (
            "FICO Xpress Solver 64bit v8.5.1 Jun  4 2018",
            "FICO Xpress v8.5.1, solve started 11:02:03, Jun  5, 2018\n",
            "xpress-8.5.1",
        ),
        ("FICO Xpress-Optimizer 64-bit v30.01.03 (Hyper64 capacity)", "", "xpress-30.01.03"),
    ],
)
def test_xpress_8_is_one_run_and_its_root_relaxation_no_solution(banner, second, arm):
    """Two banners belong to one solve, `Final objective` is the root LP, and the script prints the result once more."""
    text = XPRESS.replace("FICO Xpress Solver 64bit v9.4.2 Aug 20 2024", banner).replace("MAXTIME = -60", "")
    text = text.replace("Reading Problem", "MAXTIME=-60\nCPUTIME=0\nReading Problem").replace("Minim", second + "Minim")
    text = text.replace(
        " *** Solution found:  3133.000000   Time:   0    Heuristic: e ***",
        " *** Heuristic solution found:  3133.000000      Time: 0 ***\n"
        "Final objective                         : 8.000024000000000e+02",
    )
    text = text.replace("66.67%       0      0", "2400          0      0")
    text = text.replace("Uncrunching matrix", "Objective value = 1599.99999987\nBest Bound = 900.00240000000011")
    (run,) = read_log(READER, text).runs
    assert (run.arm, run.instance, run.horizon, run.sense) == (arm, "yard7", 60.0, "min")
    assert candidates(run) == [(0, 3133), (0, 2400), (1, 2100), (11, 1599.99999987)]
    assert bounds(run)[-1] == (60.0, 900.00240000000011)
    assert run.carried["value_resolution"] == pytest.approx(1e-8)


def test_xpress_whole_seconds_after_a_finer_stamp_are_not_before_it():
    text = XPRESS.replace("Time:   0    Heuristic", "Time:   0.42    Heuristic")
    assert candidates(read_log(READER, text).runs[0])[:2] == [(0.42, 3133), (0.42, 2400)]


def test_copt_rows_with_marks_are_read_from_the_right():
    (run,) = read_log(READER, COPT).runs
    assert (run.arm, run.instance, run.horizon, run.status) == ("copt-8.0.1", "yard7", 60.0, "time-limit")
    assert candidates(run) == [(0.03, 3133), (0.12, 2400.02), (11.1, 1600)]
    assert run.resolution == pytest.approx(0.1)


def test_copt_as_its_log_file_has_it_begins_without_the_banner_of_the_shell():
    text = COPT[COPT.index("Setting") :].replace("on Linux", "on macOS (14.1 - arm64)")
    assert READER.looks_like("x", text.encode())
    (run,) = read_log(READER, "Setting log file to /tmp/a.log\n" + text).runs
    assert (run.arm, run.instance, run.horizon, run.status) == ("copt-8.0.1", "yard7", 60.0, "time-limit")
    assert candidates(run) == [(0.03, 3133), (0.12, 2400.02), (11.1, 1600)]


def test_mosek_marks_no_incumbents_so_a_new_value_is_one():
    (run,) = read_log(READER, MOSEK).runs
    assert (run.arm, run.instance, run.sense) == ("mosek-11.0.1", "yard7", "min")
    assert candidates(run) == [(0, 3133), (0.1, 2400.02), (11.1, 1600)]
    assert bounds(run)[-1] == (20.12, 1600)


@pytest.mark.parametrize("solver", sorted(ALL))
def test_every_log_is_recognised_and_survives_crlf(solver):
    text = ALL[solver]
    assert READER.looks_like("x", text.encode())
    lf, crlf = (read_log(READER, each).runs[0] for each in (text, text.replace("\n", "\r\n")))
    assert candidates(lf) == candidates(crlf)
    assert (lf.status, lf.horizon, lf.instance) == (crlf.status, crlf.horizon, crlf.instance)


@pytest.mark.parametrize("solver", sorted(ALL))
def test_every_cut_keeps_a_prefix_of_the_stamped_candidates(solver):
    """Only the end of the last whole line may differ; what was read before stays, and the run is killed."""
    lines = ALL[solver].splitlines(keepends=True)
    (whole,) = read_log(READER, ALL[solver]).runs
    values = {value for _, value in candidates(whole)}
    for stop in range(8, len(lines)):
        text = "".join(lines[:stop])
        (run,) = read_log(READER, text).runs
        # The last incumbent has its final digits only where the log has its end.
        missing = {value for _, value in candidates(run)} - values
        assert all(math.isclose(value, candidates(whole)[-1][1], rel_tol=1e-6) for value in missing)
        if not any(line.startswith(CLOSING) for line in lines[:stop]):
            assert run.status == "killed"


@pytest.mark.parametrize(
    ("solver", "reason", "other", "status"),
    [
        ("gurobi", "Time limit reached", "Solve interrupted (error code 0)", "killed"),
        ("gurobi", "Time limit reached", "Memory limit reached", "memory-limit"),
        ("gurobi", "Time limit reached", "Node limit reached", "finished"),
        ("gurobi", "Time limit reached", "Optimal solution found (tolerance 1.00e-04)", "finished"),
        ("gurobi", "Time limit reached", "", "unknown"),
        ("scip", "time limit reached", "termination signal received", "killed"),
        ("scip", "time limit reached", "memory limit reached", "memory-limit"),
        ("scip", "time limit reached", "gap limit reached", "finished"),
        ("highs", "Time limit reached", "Interrupted by user", "killed"),
        ("highs", "Time limit reached", "Optimal", "finished"),
    ],
)
def test_how_a_run_ended(solver, reason, other, status):
    assert read_log(READER, ALL[solver].replace(reason, other)).runs[0].status == status


def test_concatenated_logs_share_nothing():
    killed = GUROBI[: GUROBI.index("Presolve removed")]
    other = GUROBI.replace("Set parameter TimeLimit to value 60\n", "").replace("yard7", "yard8")
    found = read_log(READER, killed + other + SCIP + HIGHS + SCIP.replace("limits/time = 90000\n", ""))
    assert [run.arm for run in found.runs] == [
        "gurobi-12.0.1",
        "gurobi-12.0.1",
        "scip-9.2.0+limits.time=90000",
        "highs-1.12.0",
        "scip-9.2.0",
    ]
    assert [run.horizon for run in found.runs] == [60.0, None, 90000.0, 12.5, None]
    assert [run.instance for run in found.runs] == ["yard7", "yard8", "yard7", "yard7", "yard7"]
    assert [run.status for run in found.runs] == ["killed", "time-limit", "time-limit", "time-limit", "time-limit"]
    assert [run.where for run in found.runs] == [f"solve {k}" for k in range(1, 6)]


def test_two_solves_of_one_session_share_its_parameters():
    second = GUROBI[GUROBI.index("Optimize a model") :]
    first, again = read_log(READER, GUROBI + second).runs
    assert (again.arm, again.horizon, again.seed) == (first.arm, 60.0, 3)
    assert candidates(again) == candidates(first)
    assert again.status == "time-limit"
    # The fingerprint of the model is the same, so its name is.
    assert again.instance == "yard7"
    other = second.replace("0x18b19fdf", "0x29c2a0e0")
    assert read_log(READER, GUROBI + other).runs[1].instance is None


def test_solves_of_one_model_that_differ_only_in_their_parameters_are_arms_of_their_own():
    """The fingerprint says that it is the same model; seeds and file names are no settings."""
    again = GUROBI[GUROBI.index("Optimize a model") :]
    other = "Set parameter MIPFocus to value 1\nSet parameter Heuristics to value 0\n"
    found = read_log(READER, GUROBI + other + again + 'Set parameter LogFile to value "b.log"\n' + other + again)
    focus = "gurobi-12.0.1+Heuristics=0+MIPFocus=1"
    assert [(run.arm, run.instance, run.seed) for run in found.runs] == [
        ("gurobi-12.0.1", "yard7", 3),
        (focus, "yard7", 3),
        (focus, "yard7", 3),
    ]
    assert mip.SETTINGS_NOTE in found.notes
    seeds = read_log(READER, GUROBI + GUROBI.replace("Seed to value 3", "Seed to value 4"))
    assert [(run.arm, run.seed) for run in seeds.runs] == [("gurobi-12.0.1", 3), ("gurobi-12.0.1", 4)]


def test_a_scip_session_that_optimises_twice_holds_two_solves():
    table = SCIP[SCIP.index("feasible solution") :]
    found = read_log(READER, SCIP + "heuristics/emphasis = off\nSCIP> optimize\nheuristics/emphasis = off\n" + table)
    assert [run.arm for run in found.runs] == ["scip-9.2.0", "scip-9.2.0+heuristics.emphasis=off"]
    assert [(run.instance, run.horizon, run.seed) for run in found.runs] == [("yard7", 90000.0, 5)] * 2
    assert candidates(found.runs[0]) == candidates(found.runs[1])


def test_a_parameter_set_after_the_last_solve_is_no_run():
    assert len(read_log(READER, GUROBI + "Set parameter Method to value 2\n").runs) == 1


SECOND_OBJECTIVE = """---------------------------------------------------------------------------

Multi-objectives: optimize objective 2 (spread) ...
---------------------------------------------------------------------------


Loaded user MIP start with objective 51.5

Presolve time: 0.04s
Starting NoRel heuristic
Found heuristic solution: objective 47.000000
Elapsed time for NoRel heuristic: 3s (best bound 30.5)

    Nodes    |    Current Node    |     Objective Bounds      |     Work
 Expl Unexpl |  Obj  Depth IntInf | Incumbent    BestBd   Gap | It/Node Time

     0     0   30.50000    0   72   47.00000   30.50000  35.1%     -   64s
H    0     0                      42.0000000   31.00000  26.2%     -   65s

Explored 12 nodes (112 simplex iterations) in 66.50 seconds (1.25 work units)

Optimal solution found (tolerance 1.00e-04)
Best objective 4.200000000000e+01, best bound 4.200000000000e+01, gap 0.0000%

---------------------------------------------------------------------------
Multi-objectives: solved in 66.52 seconds (32.50 work units), solution count 9
"""


def test_each_objective_of_a_gurobi_model_is_a_solve_of_its_own():
    """The clock runs on from the first objective's 60.01 s, and the heuristic's own clock begins there."""
    first = GUROBI.replace(
        "Found heuristic solution: objective 3.133357e+09",
        "Multi-objectives: starting optimization with 2 objectives...\n"
        "Multi-objectives: optimize objective 1 (cost) ...\nFound heuristic solution: objective 3.133357e+09",
    ).replace("TimeLimit to value 60", "TimeLimit to value 600")
    found = read_log(READER, first + SECOND_OBJECTIVE)
    cost, spread = found.runs
    assert [run.instance for run in found.runs] == ["yard7-objective-1", "yard7-objective-2"]
    assert candidates(cost) == candidates(read_log(READER, GUROBI).runs[0])
    assert candidates(spread) == [(pytest.approx(63.01), 51.5), (pytest.approx(63.01), 47), (65, 42)]
    assert (spread.horizon, spread.sense, spread.status, spread.resolution) == (600, "min", "finished", 4.0)
    assert mip.OBJECTIVES_NOTE in found.notes


def test_a_run_that_found_nothing_is_empty_not_missing():
    text = "\n".join(line for line in COPT.splitlines() if "e+03" not in line and "Best solution" not in line)
    (run,) = read_log(READER, text).runs
    assert candidates(run) == []
    assert bounds(run)
    assert run.status == "time-limit"


def test_an_incumbent_better_than_the_final_objective_is_rejected():
    found = read_log(READER, GUROBI.replace("2.200017e+09", "1.200017e+09"))
    assert 1.200017e9 not in [value for _, value in candidates(found.runs[0])]
    assert mip.BETTER_THAN_FINAL in found.runs[0].reason
    assert "expected no incumbent better than the final 1600012700" in found.problems[0]


def test_a_final_objective_that_no_row_shows_is_a_candidate_at_the_end():
    text = SCIP.replace("+2.15034440000000e+06", "+2.05000000000000e+06")
    assert candidates(read_log(READER, text).runs[0])[-1] == (90000.0, 2.05e6)


@pytest.mark.parametrize("bad", ["1,5", "nan", "1e999", "2.4_0"])
def test_an_incumbent_that_is_no_number_is_rejected_and_counted(bad):
    found = read_log(READER, GUROBI.replace("2.400020e+09 ", f"{bad} "))
    assert np.count_nonzero(found.runs[0].verdict == VerdictCode.INVALID) == 1
    # The row after it shows the same incumbent with five digits, which is all that is left of it.
    assert candidates(found.runs[0])[2] == (0.0, 2.4e9)
    assert "expected a finite objective, got nothing" in found.problems[0]


def test_a_huge_line_is_no_row():
    text = GUROBI.replace("H  312   201", "H" + "3" * 20_000_000 + "\nH  312   201")
    assert candidates(read_log(READER, text).runs[0]) == candidates(read_log(READER, GUROBI).runs[0])


def test_characters_beyond_ascii_in_any_place_are_read_without_noise(capfd):
    """The names of models and folders hold them, and a parser that counts bytes must not fall over them."""
    text = (
        HIGHS.replace("yard7", "hôf7")
        .replace("\n L      12", "\n\ufffdé\n L      12")
        .replace("Set option", "é\nSet option")
    )
    (run,) = read_log(READER, text).runs
    assert run.instance == "hôf7"
    assert candidates(run) == candidates(read_log(READER, HIGHS).runs[0])
    assert capfd.readouterr().err == ""


def test_another_text_is_refused_with_the_list_of_solvers():
    with pytest.raises(TraceError, match=r"run\.log: expected the log of a MIP solver, got 'hello'"):
        read_log(READER, "hello\n")
    assert not READER.looks_like("x", b"hello\n")


def test_without_miplog_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "miplog", None)
    with pytest.raises(EnvironmentLacksError, match=r"gapline\[mip\]"):
        read_log(READER, GUROBI)


@settings(max_examples=examples(60), deadline=None)
@given(st.binary(max_size=300))
def test_random_bytes_are_survived(data):
    survive(READER, data)
    survive(READER, b"Running HiGHS 1\n" + data)


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.sampled_from(sorted(ALL)).flatmap(lambda solver: mutated(ALL[solver].encode())))
def test_mutated_logs_are_survived(data):
    survive(READER, data)


PROOFS = (
    b"[optimal solution found]",
    b"Optimal",
    b"MIP - Integer optimal",
    b"Search completed",
    b": solved",
    b"An optimal",
)


@pytest.mark.parametrize("solver", ALL)
def test_no_variant_of_a_log_has_a_better_value_or_claims_more(solver):
    check_variants(read_or_refuse(READER), ALL[solver].encode(), PROOFS)


@pytest.mark.parametrize("solver", ["scip", "gurobi"])
def test_numbers_with_a_decimal_comma_are_named_and_not_read(solver):
    """`-1,0641e+05` was read as -1."""
    text = re.sub(r"([0-9])\.([0-9]+e[+-][0-9]+)", r"\1,\2", ALL[solver])
    assert text != ALL[solver]
    found = read_log(READER, text)
    assert any("expected numbers with a decimal point" in problem for problem in found.problems)
    written = {value for _, value in candidates(read_log(READER, ALL[solver]).runs[0])}
    assert all(any(abs(value - one) < 1e-3 * abs(one) for one in written) for _, value in candidates(found.runs[0]))


@pytest.mark.parametrize("solver", ["highs", "cbc", "scip", "gurobi"])
def test_a_log_in_which_every_number_has_a_decimal_comma_is_no_empty_run_without_a_problem(solver):
    """Also where no number has an exponent."""
    found = read_log(READER, re.sub(r"([0-9])\.([0-9])", r"\1,\2", ALL[solver]))
    assert any("expected numbers with a decimal point, got " in problem for problem in found.problems)
    empty = "Gurobi Optimizer version 11.0.0\nOptimize a model with 1,204 rows, 3,000 columns and 12,345,678 nonzeros\n"
    assert read_log(READER, empty).problems == []


class TestConformance(ReaderConformance):
    reader = READER
    sample = HIGHS.encode()
    candidates = ((0.2, 100.0), (0.4, 310.0), (1.1, 1213.0), (1.1, 1525.0))


def test_a_log_beyond_the_limit_is_refused_because_it_would_be_held(tmp_path, monkeypatch):
    """It was read by lines, all of which were held: the limit did not see it."""
    (tmp_path / "grb.log").write_text(GUROBI + "\n" * 20_000)
    monkeypatch.setenv(VARIABLE, "10000")
    with pytest.raises(TraceError, match=r"grb\.log: expected at most 10,000 bytes once unpacked, got more"):
        import_logs([tmp_path / "grb.log"])
