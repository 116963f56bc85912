package com.graphhopper.jsprit.core.problem.solution;

public interface SolutionCostCalculator {
    double getCosts(VehicleRoutingProblemSolution solution);
}
