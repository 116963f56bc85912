package com.graphhopper.jsprit.core.algorithm.listener;

import com.graphhopper.jsprit.core.problem.VehicleRoutingProblem;
import com.graphhopper.jsprit.core.problem.solution.VehicleRoutingProblemSolution;
import java.util.Collection;

public interface IterationEndsListener extends VehicleRoutingAlgorithmListener {
    void informIterationEnds(
            int i, VehicleRoutingProblem problem, Collection<VehicleRoutingProblemSolution> solutions);
}
