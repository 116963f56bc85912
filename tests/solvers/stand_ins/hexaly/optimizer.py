"""The part of Hexaly's Python interface that the adapter uses: models are evaluated, moves are random.

A tick comes every few iterations instead of every second, so that a test needs no clock. The search penalises nothing:
a solution that breaks a constraint is infeasible, as Hexaly reports it, and is never taken over a feasible one.
"""

import os
import random
from enum import Enum


class HxSolutionStatus(Enum):
    INCONSISTENT = 0
    INFEASIBLE = 1
    FEASIBLE = 2
    OPTIMAL = 3


class HxCallbackType(Enum):
    PHASE_STARTED = 0
    PHASE_ENDED = 1
    DISPLAY = 2
    TIME_TICKED = 3
    ITERATION_TICKED = 4


class HxError(Exception):
    pass


class HxExternalArgumentValues:
    def __init__(self, values):
        self._values = values

    def get_collection_value(self, pos):
        return self._values[pos]


class HxModel:
    """Expressions are functions of the lists' values."""

    def __init__(self):
        self.lists = []
        self.size = 0
        self.constraints = []
        self.objective = None
        self.closed = False

    def list(self, arg1):
        self.size = arg1
        number = len(self.lists)
        self.lists.append(lambda values: values[number])
        return self.lists[-1]

    def create_double_external_function(self, func, grad=None):  # noqa: ARG002  Hexaly has it
        return lambda *arguments: float(func(HxExternalArgumentValues(arguments)))

    def call(self, *args):
        function, *rest = args
        return lambda values: function(*(one(values) for one in rest))

    def partition(self, *args):
        (lists,) = args
        return lambda values: sorted(c for one in lists for c in one(values)) == list(range(self.size))

    def leq(self, arg1, arg2):
        return lambda values: arg1(values) <= arg2

    def sum(self, *args):
        (terms,) = args
        return lambda values: sum(term(values) for term in terms)

    def constraint(self, expr):
        assert not self.closed
        self.constraints.append(expr)

    def minimize(self, expr):
        assert not self.closed
        self.objective = expr

    def close(self):
        self.closed = True


class HxParam:
    def __init__(self):
        self.seed, self.iterations = 0, 1000

    def set_seed(self, seed):
        self.seed = seed

    def set_nb_threads(self, nb_threads):
        assert nb_threads >= 1

    def set_verbosity(self, verbosity):
        assert verbosity == 0

    def set_time_between_ticks(self, time_between_ticks):
        assert isinstance(time_between_ticks, int)

    def set_time_limit(self, time_limit):
        assert isinstance(time_limit, int)

    def set_iteration_limit(self, iteration_limit):
        self.iterations = iteration_limit


class HxStatistics:
    def get_running_time(self):
        return 1


class HxSolution:
    def __init__(self, model):
        self._model = model
        self.values = [[customer] for customer in range(model.size)] + [[]] * (len(model.lists) - model.size)

    def cost(self):
        return self._model.objective(self.values)

    def get_status(self):
        kept = all(constraint(self.values) for constraint in self._model.constraints)
        return HxSolutionStatus.FEASIBLE if kept else HxSolutionStatus.INFEASIBLE

    def get_double_value(self, expr):
        return expr(self.values)

    def get_collection_value(self, expr):
        return tuple(expr(self.values))


class HexalyOptimizer:
    def __init__(self, version=None):  # noqa: ARG002  Hexaly has it
        if "NO_LICENCE" in os.environ:
            raise HxError("ERROR [function hx_create_optimizer]: Cannot open file [license.dat].")
        self.model = HxModel()
        self.param = HxParam()
        self.statistics = HxStatistics()
        self.solution = None
        self._callbacks = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def add_callback(self, cb_type, func):
        assert cb_type is HxCallbackType.TIME_TICKED
        self._callbacks.append(func)

    def solve(self):
        assert self.model.closed
        draws = random.Random(self.param.seed)
        self.solution = HxSolution(self.model)
        for iteration in range(1, self.param.iterations + 1):
            before, cost = [list(one) for one in self.solution.values], self.solution.cost()
            feasible = self.solution.get_status() is HxSolutionStatus.FEASIBLE
            giver = draws.choice([one for one in self.solution.values if one])
            customer = giver.pop(draws.randrange(len(giver)))
            self.solution.values = [list(one) for one in self.solution.values]
            taker = draws.choice(self.solution.values)
            taker.insert(draws.randint(0, len(taker)), customer)
            better = self.solution.cost() < cost
            if feasible and not (better and self.solution.get_status() is HxSolutionStatus.FEASIBLE):
                self.solution.values = before
            if iteration % 20 == 0:
                for func in self._callbacks:
                    func(self, HxCallbackType.TIME_TICKED)
