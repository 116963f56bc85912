import com.graphhopper.jsprit.core.algorithm.VehicleRoutingAlgorithm;
import com.graphhopper.jsprit.core.algorithm.acceptor.SchrimpfAcceptance;
import com.graphhopper.jsprit.core.algorithm.box.Jsprit;
import com.graphhopper.jsprit.core.algorithm.listener.IterationEndsListener;
import com.graphhopper.jsprit.core.algorithm.listener.IterationStartsListener;
import com.graphhopper.jsprit.core.problem.Location;
import com.graphhopper.jsprit.core.problem.VehicleRoutingProblem;
import com.graphhopper.jsprit.core.problem.job.Service;
import com.graphhopper.jsprit.core.problem.solution.VehicleRoutingProblemSolution;
import com.graphhopper.jsprit.core.problem.solution.route.VehicleRoute;
import com.graphhopper.jsprit.core.problem.solution.route.activity.TimeWindow;
import com.graphhopper.jsprit.core.problem.solution.route.activity.TourActivity;
import com.graphhopper.jsprit.core.problem.vehicle.VehicleImpl;
import com.graphhopper.jsprit.core.problem.vehicle.VehicleTypeImpl;
import com.graphhopper.jsprit.core.util.FastVehicleRoutingTransportCostsMatrix;
import com.graphhopper.jsprit.core.util.RandomNumberGeneration;
import com.graphhopper.jsprit.core.util.Solutions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.StreamTokenizer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Random;

/**
 * Drives jsprit on a problem from standard input and prints one JSON line for each better solution.
 *
 * <p>Arguments: seed, threads, limit on iterations (0 for none), moment of the horizon in milliseconds since 1970.
 *
 * <p>Input, numbers alone: vertices, vehicles (0 for any number), capacity, units to one of the objective, 1 to minimise
 * duration (0 for distance), 1 where travel takes time; then demand, ready, due and service of each vertex, the depot
 * first; then the matrix, row by row.
 */
public final class GaplineJsprit implements IterationStartsListener, IterationEndsListener {
    /** jsprit's own values, see Jsprit.Parameter: THRESHOLD_ALPHA and THRESHOLD_INI. */
    private static final double ALPHA = 0.15;

    private static final double FIRST_THRESHOLD = 0.03;

    private final long began = System.nanoTime();
    private final int limit;
    private final double available;
    private final SchrimpfAcceptance acceptance = new SchrimpfAcceptance(1, ALPHA);

    private int vehicles;
    private int capacity;
    private double scale;
    private boolean minimiseDuration;
    private boolean timed;
    private int[] demands;
    private double[] ready;
    private double[] due;
    private double[] services;
    private double[][] lengths;
    private double penalty;
    private double best = Double.POSITIVE_INFINITY;

    private GaplineJsprit(int limit, long horizon) {
        this.limit = limit;
        this.available = Math.max(1, horizon - System.currentTimeMillis()) / 1000.0;
    }

    public static void main(String[] arguments) {
        try {
            GaplineJsprit run = new GaplineJsprit(Integer.parseInt(arguments[2]), Long.parseLong(arguments[3]));
            run.read();
            run.solve(Long.parseLong(arguments[0]), Integer.parseInt(arguments[1]));
        } catch (Exception | LinkageError error) {
            System.err.println("jsprit stopped: " + error.toString().replaceAll("\\s+", " "));
            System.exit(1);
        }
    }

    private void read() throws IOException {
        StreamTokenizer numbers = new StreamTokenizer(new BufferedReader(new InputStreamReader(System.in)));
        int size = (int) next(numbers);
        vehicles = (int) next(numbers);
        capacity = (int) next(numbers);
        scale = next(numbers);
        minimiseDuration = next(numbers) == 1;
        timed = next(numbers) == 1;
        demands = new int[size];
        ready = new double[size];
        due = new double[size];
        services = new double[size];
        lengths = new double[size][size];
        for (int i = 0; i < size; i++) {
            demands[i] = (int) next(numbers);
            ready[i] = next(numbers);
            due[i] = next(numbers);
            services[i] = next(numbers);
        }
        double longest = 0;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) {
                lengths[i][j] = next(numbers);
                longest = Math.max(longest, lengths[i][j]);
            }
        }
        // Leaving a customer out never pays: a route of its own costs two roads, its service and no waiting.
        penalty = 20 * (longest + 1);
        for (double service : services) {
            penalty = Math.max(penalty, 20 * (longest + service + 1));
        }
    }

    private static double next(StreamTokenizer numbers) throws IOException {
        if (numbers.nextToken() != StreamTokenizer.TT_NUMBER) {
            throw new IOException("expected a number in the problem, got " + numbers);
        }
        return numbers.nval;
    }

    private void solve(long seed, int threads) {
        VehicleRoutingProblem problem = state();
        RandomNumberGeneration.setSeed(seed);
        VehicleRoutingAlgorithm algorithm =
                Jsprit.Builder.newInstance(problem)
                        // Without it jsprit draws from a generator whose seed is a constant.
                        .setRandom(new Random(seed))
                        .setObjectiveFunction(this::objective)
                        .setCustomAcceptor(acceptance)
                        .setProperty(Jsprit.Parameter.THREADS, Integer.toString(threads))
                        .buildAlgorithm();
        algorithm.setMaxIterations(limit > 0 ? limit : Integer.MAX_VALUE);
        if (limit == 0) {
            algorithm.setPrematureAlgorithmTermination(found -> elapsed() >= available);
        }
        algorithm.addListener(this);
        // What the last iteration found is not announced when the clock ends it.
        printBetter(algorithm.searchSolutions());
    }

    private VehicleRoutingProblem state() {
        FastVehicleRoutingTransportCostsMatrix.Builder matrix =
                FastVehicleRoutingTransportCostsMatrix.Builder.newInstance(lengths.length, false);
        for (int i = 0; i < lengths.length; i++) {
            for (int j = 0; j < lengths.length; j++) {
                matrix.addTransportDistance(i, j, lengths[i][j]);
                matrix.addTransportTime(i, j, timed ? lengths[i][j] : 0);
            }
        }
        VehicleTypeImpl type =
                VehicleTypeImpl.Builder.newInstance("vehicle")
                        .addCapacityDimension(0, capacity)
                        .setCostPerDistance(minimiseDuration ? 0 : 1)
                        .setCostPerTransportTime(minimiseDuration ? 1 : 0)
                        .setCostPerWaitingTime(minimiseDuration ? 1 : 0)
                        .build();
        VehicleRoutingProblem.Builder problem = VehicleRoutingProblem.Builder.newInstance();
        problem.setFleetSize(
                vehicles == 0 ? VehicleRoutingProblem.FleetSize.INFINITE : VehicleRoutingProblem.FleetSize.FINITE);
        for (int k = 0; k < Math.max(1, vehicles); k++) {
            VehicleImpl.Builder vehicle = VehicleImpl.Builder.newInstance("v" + k);
            vehicle.setType(type).setStartLocation(Location.newInstance(0));
            if (timed) {
                vehicle.setEarliestStart(ready[0]).setLatestArrival(due[0]);
            }
            problem.addVehicle(vehicle.build());
        }
        for (int i = 1; i < lengths.length; i++) {
            Service.Builder<?> service = Service.Builder.newInstance(Integer.toString(i));
            service.setLocation(Location.newInstance(i)).addSizeDimension(0, demands[i]);
            if (timed) {
                service.setServiceTime(services[i]).setTimeWindow(TimeWindow.newInstance(ready[i], due[i]));
            }
            problem.addJob(service.build());
        }
        return problem.setRoutingCost(matrix.build()).build();
    }

    private double objective(VehicleRoutingProblemSolution solution) {
        double total = penalty * solution.getUnassignedJobs().size();
        for (VehicleRoute route : solution.getRoutes()) {
            List<Integer> stops = stops(route);
            if (!stops.isEmpty()) {
                total += minimiseDuration ? duration(stops) : length(stops);
            }
        }
        return total;
    }

    private double length(List<Integer> stops) {
        double total = 0;
        int here = 0;
        for (int stop : stops) {
            total += lengths[here][stop];
            here = stop;
        }
        return total + lengths[here][0];
    }

    /** From the latest departure that does not delay the end: jsprit itself lets all vehicles leave at the opening. */
    private double duration(List<Integer> stops) {
        double clock = ready[0];
        int here = 0;
        for (int stop : stops) {
            clock = Math.max(clock + services[here] + lengths[here][stop], ready[stop]);
            here = stop;
        }
        double end = clock + services[here] + lengths[here][0];
        double latest = end;
        int there = 0;
        for (int k = stops.size() - 1; k >= 0; k--) {
            int stop = stops.get(k);
            latest = Math.min(due[stop], latest - lengths[stop][there] - services[stop]);
            there = stop;
        }
        return end - (latest - lengths[0][there] - services[0]);
    }

    private static List<Integer> stops(VehicleRoute route) {
        List<Integer> stops = new ArrayList<>();
        for (TourActivity activity : route.getActivities()) {
            if (activity instanceof TourActivity.JobActivity) {
                stops.add(Integer.valueOf(((TourActivity.JobActivity) activity).getJob().getId()));
            }
        }
        return stops;
    }

    /** Cools over the time there is: jsprit itself knows no other schedule than a number of iterations. */
    @Override
    public void informIterationStarts(
            int i, VehicleRoutingProblem problem, Collection<VehicleRoutingProblemSolution> solutions) {
        if (i == 1) {
            acceptance.setInitialThreshold(FIRST_THRESHOLD * Solutions.bestOf(solutions).getCost());
            // The solution that the search starts from counts too.
            printBetter(solutions);
        }
        double expected = limit > 0 ? limit : Math.min(Integer.MAX_VALUE, i * available / Math.max(1e-3, elapsed()));
        acceptance.setMaxIterations(Math.max(i, (int) expected));
        acceptance.informIterationStarts(i, problem, solutions);
    }

    @Override
    public void informIterationEnds(
            int i, VehicleRoutingProblem problem, Collection<VehicleRoutingProblemSolution> solutions) {
        printBetter(solutions);
    }

    private void printBetter(Collection<VehicleRoutingProblemSolution> solutions) {
        VehicleRoutingProblemSolution found = Solutions.bestOf(solutions);
        if (found == null || !found.getUnassignedJobs().isEmpty() || found.getCost() >= best) {
            return;
        }
        best = found.getCost();
        List<String> routes = new ArrayList<>();
        for (VehicleRoute route : found.getRoutes()) {
            List<Integer> stops = stops(route);
            if (!stops.isEmpty()) {
                // Lists of whole numbers print as JSON does.
                routes.add(stops.toString());
            }
        }
        System.out.println(
                "{\"objective\":" + best / scale + ",\"solution\":" + routes + ",\"time\":" + elapsed() + "}");
        System.out.flush();
    }

    private double elapsed() {
        return (System.nanoTime() - began) / 1e9;
    }
}
