package com.graphhopper.jsprit.core.problem.vehicle;

public class VehicleTypeImpl {
    public static class Builder {
        private final VehicleTypeImpl made = new VehicleTypeImpl();

        public static Builder newInstance(String id) {
            return new Builder();
        }

        public Builder addCapacityDimension(int dimIndex, int dimVal) {
            made.capacity = dimVal;
            return this;
        }

        public Builder setCostPerDistance(double perDistance) {
            return this;
        }

        public Builder setCostPerTransportTime(double perTime) {
            return this;
        }

        public Builder setCostPerWaitingTime(double perWaitingTime) {
            return this;
        }

        public VehicleTypeImpl build() {
            return made;
        }
    }

    public int capacity;
}
