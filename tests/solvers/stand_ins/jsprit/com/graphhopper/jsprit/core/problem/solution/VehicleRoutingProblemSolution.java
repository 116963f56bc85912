package com.graphhopper.jsprit.core.problem.solution;

import com.graphhopper.jsprit.core.problem.job.Job;
import com.graphhopper.jsprit.core.problem.solution.route.VehicleRoute;
import java.util.Collection;

public class VehicleRoutingProblemSolution {
    private final Collection<VehicleRoute> routes;
    private final Collection<Job> unassigned;
    private double cost;

    public VehicleRoutingProblemSolution(Collection<VehicleRoute> routes, Collection<Job> unassigned, double cost) {
        this.routes = routes;
        this.unassigned = unassigned;
        this.cost = cost;
    }

    public Collection<VehicleRoute> getRoutes() {
        return routes;
    }

    public Collection<Job> getUnassignedJobs() {
        return unassigned;
    }

    public double getCost() {
        return cost;
    }

    public void setCost(double cost) {
        this.cost = cost;
    }
}
