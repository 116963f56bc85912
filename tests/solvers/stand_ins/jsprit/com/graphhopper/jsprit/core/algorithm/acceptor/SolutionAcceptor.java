package com.graphhopper.jsprit.core.algorithm.acceptor;

import com.graphhopper.jsprit.core.problem.solution.VehicleRoutingProblemSolution;
import java.util.Collection;

public interface SolutionAcceptor {
    boolean acceptSolution(
            Collection<VehicleRoutingProblemSolution> solutions, VehicleRoutingProblemSolution newSolution);
}
