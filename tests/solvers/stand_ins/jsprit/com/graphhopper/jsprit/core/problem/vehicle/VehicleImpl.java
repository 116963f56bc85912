package com.graphhopper.jsprit.core.problem.vehicle;

import com.graphhopper.jsprit.core.problem.Location;

public class VehicleImpl {
    public static class Builder {
        private final VehicleImpl made = new VehicleImpl();

        public static Builder newInstance(String id) {
            return new Builder();
        }

        public Builder setType(VehicleTypeImpl type) {
            made.type = type;
            return this;
        }

        public Builder setStartLocation(Location startLocation) {
            made.start = startLocation;
            return this;
        }

        public Builder setEarliestStart(double earliest_startTime) {
            made.opening = earliest_startTime;
            return this;
        }

        public Builder setLatestArrival(double latest_arrTime) {
            made.closing = latest_arrTime;
            return this;
        }

        public VehicleImpl build() {
            return made;
        }
    }

    public VehicleTypeImpl type;
    public Location start;
    public double opening;
    public double closing = Double.MAX_VALUE;
}
