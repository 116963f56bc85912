package com.graphhopper.jsprit.core.problem.solution.route.activity;

public class TimeWindow {
    private final double start;
    private final double end;

    private TimeWindow(double start, double end) {
        this.start = start;
        this.end = end;
    }

    public static TimeWindow newInstance(double start, double end) {
        return new TimeWindow(start, end);
    }

    public double getStart() {
        return start;
    }

    public double getEnd() {
        return end;
    }
}
