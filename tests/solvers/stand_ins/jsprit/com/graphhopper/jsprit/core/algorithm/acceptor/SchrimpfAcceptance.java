package com.graphhopper.jsprit.core.algorithm.acceptor;

import com.graphhopper.jsprit.core.algorithm.listener.IterationStartsListener;
import com.graphhopper.jsprit.core.problem.VehicleRoutingProblem;
import com.graphhopper.jsprit.core.problem.solution.VehicleRoutingProblemSolution;
import java.util.Collection;

/** Takes what is better than the one in memory, or not much worse, depending on how far the search is. */
public class SchrimpfAcceptance implements SolutionAcceptor, IterationStartsListener {
    private final double alpha;
    private double threshold;
    private int last = 1000;
    private int now;

    public SchrimpfAcceptance(int solutionMemory, double alpha) {
        if (solutionMemory != 1) {
            throw new IllegalArgumentException("the stand-in remembers one solution");
        }
        this.alpha = alpha;
    }

    public void setInitialThreshold(double initialThreshold) {
        threshold = initialThreshold;
    }

    public void setMaxIterations(int maxIteration) {
        last = maxIteration;
    }

    @Override
    public void informIterationStarts(
            int i, VehicleRoutingProblem problem, Collection<VehicleRoutingProblemSolution> solutions) {
        now = i;
    }

    @Override
    public boolean acceptSolution(
            Collection<VehicleRoutingProblemSolution> solutions, VehicleRoutingProblemSolution newSolution) {
        double slack = threshold * Math.pow(2, -(double) now / last / alpha);
        if (newSolution.getCost() >= solutions.iterator().next().getCost() + slack) {
            return false;
        }
        solutions.clear();
        return solutions.add(newSolution);
    }
}
