package com.graphhopper.jsprit.core.problem;

public final class Location {
    private final int index;

    private Location(int index) {
        this.index = index;
    }

    public static Location newInstance(int index) {
        return new Location(index);
    }

    public int getIndex() {
        return index;
    }
}
