package com.graphhopper.jsprit.core.algorithm.box;

import com.graphhopper.jsprit.core.algorithm.VehicleRoutingAlgorithm;
import com.graphhopper.jsprit.core.algorithm.acceptor.SolutionAcceptor;
import com.graphhopper.jsprit.core.problem.VehicleRoutingProblem;
import com.graphhopper.jsprit.core.problem.solution.SolutionCostCalculator;
import java.util.Random;

public class Jsprit {
    public enum Parameter {
        THREADS
    }

    public static class Builder {
        private final VehicleRoutingAlgorithm made;

        private Builder(VehicleRoutingProblem problem) {
            made = new VehicleRoutingAlgorithm(problem);
        }

        public static Builder newInstance(VehicleRoutingProblem vrp) {
            return new Builder(vrp);
        }

        public Builder setRandom(Random random) {
            made.random = random;
            return this;
        }

        public Builder setObjectiveFunction(SolutionCostCalculator objectiveFunction) {
            made.objective = objectiveFunction;
            return this;
        }

        public Builder setCustomAcceptor(SolutionAcceptor acceptor) {
            made.acceptor = acceptor;
            return this;
        }

        public Builder setProperty(Parameter parameter, String value) {
            return this;
        }

        public VehicleRoutingAlgorithm buildAlgorithm() {
            return made;
        }
    }
}
