package com.graphhopper.jsprit.core.algorithm;

import com.graphhopper.jsprit.core.algorithm.acceptor.SolutionAcceptor;
import com.graphhopper.jsprit.core.algorithm.listener.IterationEndsListener;
import com.graphhopper.jsprit.core.algorithm.listener.IterationStartsListener;
import com.graphhopper.jsprit.core.algorithm.listener.VehicleRoutingAlgorithmListener;
import com.graphhopper.jsprit.core.algorithm.termination.PrematureAlgorithmTermination;
import com.graphhopper.jsprit.core.problem.VehicleRoutingProblem;
import com.graphhopper.jsprit.core.problem.job.Job;
import com.graphhopper.jsprit.core.problem.job.Service;
import com.graphhopper.jsprit.core.problem.solution.SolutionCostCalculator;
import com.graphhopper.jsprit.core.problem.solution.VehicleRoutingProblemSolution;
import com.graphhopper.jsprit.core.problem.solution.route.VehicleRoute;
import com.graphhopper.jsprit.core.problem.vehicle.VehicleImpl;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Inserts customers in random order, each where it fits first; the callbacks come as jsprit's do. */
public class VehicleRoutingAlgorithm {
    public Random random;
    public SolutionCostCalculator objective;
    public SolutionAcceptor acceptor;
    private final VehicleRoutingProblem problem;
    private final List<VehicleRoutingAlgorithmListener> listeners = new ArrayList<>();
    private PrematureAlgorithmTermination termination = found -> false;
    private int maxIterations = 100;

    public VehicleRoutingAlgorithm(VehicleRoutingProblem problem) {
        this.problem = problem;
    }

    public void setMaxIterations(int maxIterations) {
        this.maxIterations = maxIterations;
    }

    public void setPrematureAlgorithmTermination(PrematureAlgorithmTermination prematureAlgorithmTermination) {
        termination = prematureAlgorithmTermination;
    }

    public void addListener(VehicleRoutingAlgorithmListener l) {
        listeners.add(l);
    }

    public Collection<VehicleRoutingProblemSolution> searchSolutions() {
        Collection<VehicleRoutingProblemSolution> solutions = new ArrayList<>();
        solutions.add(construct());
        VehicleRoutingProblemSolution best = solutions.iterator().next();
        for (int i = 1; i <= maxIterations; i++) {
            for (VehicleRoutingAlgorithmListener one : listeners) {
                if (one instanceof IterationStartsListener) {
                    ((IterationStartsListener) one).informIterationStarts(i, problem, solutions);
                }
            }
            VehicleRoutingProblemSolution found = construct();
            acceptor.acceptSolution(solutions, found);
            best = found.getCost() < best.getCost() ? found : best;
            if (termination.isPrematureBreak(new SearchStrategy.DiscoveredSolution())) {
                break;
            }
            for (VehicleRoutingAlgorithmListener one : listeners) {
                if (one instanceof IterationEndsListener) {
                    ((IterationEndsListener) one).informIterationEnds(i, problem, solutions);
                }
            }
        }
        solutions.add(best);
        return solutions;
    }

    private VehicleRoutingProblemSolution construct() {
        List<Service> order = new ArrayList<>(problem.services);
        Collections.shuffle(order, random);
        List<List<Service>> routes = new ArrayList<>();
        Collection<Job> unassigned = new ArrayList<>();
        for (Service service : order) {
            if (!insert(routes, service)) {
                unassigned.add(service);
            }
        }
        Collection<VehicleRoute> built = new ArrayList<>();
        for (List<Service> route : routes) {
            built.add(new VehicleRoute(route));
        }
        VehicleRoutingProblemSolution made = new VehicleRoutingProblemSolution(built, unassigned, 0);
        made.setCost(objective.getCosts(made));
        return made;
    }

    private boolean insert(List<List<Service>> routes, Service service) {
        for (List<Service> route : routes) {
            for (int place = 0; place <= route.size(); place++) {
                route.add(place, service);
                if (fits(route)) {
                    return true;
                }
                route.remove(place);
            }
        }
        boolean full = problem.fleetSize == VehicleRoutingProblem.FleetSize.FINITE
                && routes.size() == problem.vehicles.size();
        List<Service> alone = new ArrayList<>(List.of(service));
        return !full && fits(alone) && routes.add(alone);
    }

    private boolean fits(List<Service> route) {
        VehicleImpl vehicle = problem.vehicles.get(0);
        double[][] times = problem.matrix.times;
        double clock = vehicle.opening;
        int load = 0;
        int here = vehicle.start.getIndex();
        for (Service service : route) {
            int there = service.getLocation().getIndex();
            clock = Math.max(clock + times[here][there], service.getTimeWindow().getStart());
            load += service.size;
            if (clock > service.getTimeWindow().getEnd() || load > vehicle.type.capacity) {
                return false;
            }
            clock += service.getServiceDuration();
            here = there;
        }
        return clock + times[here][vehicle.start.getIndex()] <= vehicle.closing;
    }
}
