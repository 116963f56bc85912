package com.graphhopper.jsprit.core.util;

import com.graphhopper.jsprit.core.problem.solution.VehicleRoutingProblemSolution;
import java.util.Collection;
import java.util.Comparator;

public class Solutions {
    public static VehicleRoutingProblemSolution bestOf(Collection<VehicleRoutingProblemSolution> solutions) {
        return solutions.stream()
                .min(Comparator.comparingDouble(VehicleRoutingProblemSolution::getCost))
                .orElse(null);
    }
}
