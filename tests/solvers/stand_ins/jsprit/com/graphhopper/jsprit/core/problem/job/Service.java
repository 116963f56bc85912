package com.graphhopper.jsprit.core.problem.job;

import com.graphhopper.jsprit.core.problem.AbstractJob;
import com.graphhopper.jsprit.core.problem.Location;
import com.graphhopper.jsprit.core.problem.solution.route.activity.TimeWindow;

public class Service extends AbstractJob {
    public static class Builder<T extends Service> {
        private final Service made = new Service();

        @SuppressWarnings("rawtypes")
        public static Builder newInstance(String id) {
            Builder builder = new Builder();
            builder.made.id = id;
            return builder;
        }

        public Builder<T> setLocation(Location location) {
            made.location = location;
            return this;
        }

        public Builder<T> setServiceTime(double serviceTime) {
            made.duration = serviceTime;
            return this;
        }

        public Builder<T> addSizeDimension(int dimensionIndex, int dimensionValue) {
            made.size = dimensionValue;
            return this;
        }

        public Builder<T> setTimeWindow(TimeWindow tw) {
            made.window = tw;
            return this;
        }

        @SuppressWarnings("unchecked")
        public T build() {
            return (T) made;
        }
    }

    public int size;
    private String id;
    private Location location;
    private double duration;
    private TimeWindow window = TimeWindow.newInstance(0, Double.MAX_VALUE);

    @Override
    public String getId() {
        return id;
    }

    public Location getLocation() {
        return location;
    }

    public double getServiceDuration() {
        return duration;
    }

    public TimeWindow getTimeWindow() {
        return window;
    }
}
