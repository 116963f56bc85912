package com.graphhopper.jsprit.core.problem;

import com.graphhopper.jsprit.core.problem.job.Job;
import com.graphhopper.jsprit.core.problem.job.Service;
import com.graphhopper.jsprit.core.problem.vehicle.VehicleImpl;
import com.graphhopper.jsprit.core.util.FastVehicleRoutingTransportCostsMatrix;
import java.util.ArrayList;
import java.util.List;

public class VehicleRoutingProblem {
    public enum FleetSize {
        FINITE,
        INFINITE
    }

    public static class Builder {
        private final VehicleRoutingProblem made = new VehicleRoutingProblem();

        public static Builder newInstance() {
            return new Builder();
        }

        public Builder setFleetSize(FleetSize fleetSize) {
            made.fleetSize = fleetSize;
            return this;
        }

        public Builder addVehicle(VehicleImpl vehicle) {
            made.vehicles.add(vehicle);
            return this;
        }

        public Builder addJob(Job job) {
            made.services.add((Service) job);
            return this;
        }

        public Builder addJob(AbstractJob job) {
            return addJob((Job) job);
        }

        public Builder setRoutingCost(FastVehicleRoutingTransportCostsMatrix costs) {
            made.matrix = costs;
            return this;
        }

        public VehicleRoutingProblem build() {
            return made;
        }
    }

    public FleetSize fleetSize;
    public FastVehicleRoutingTransportCostsMatrix matrix;
    public final List<VehicleImpl> vehicles = new ArrayList<>();
    public final List<Service> services = new ArrayList<>();
}
