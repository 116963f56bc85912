package com.graphhopper.jsprit.core.util;

public class FastVehicleRoutingTransportCostsMatrix {
    public static class Builder {
        private final FastVehicleRoutingTransportCostsMatrix made = new FastVehicleRoutingTransportCostsMatrix();

        public static Builder newInstance(int noLocations, boolean isSymmetric) {
            Builder builder = new Builder();
            builder.made.times = new double[noLocations][noLocations];
            return builder;
        }

        public Builder addTransportDistance(int fromIndex, int toIndex, double distance) {
            return this;
        }

        public Builder addTransportTime(int fromIndex, int toIndex, double time) {
            made.times[fromIndex][toIndex] = time;
            return this;
        }

        public FastVehicleRoutingTransportCostsMatrix build() {
            return made;
        }
    }

    public double[][] times;
}
