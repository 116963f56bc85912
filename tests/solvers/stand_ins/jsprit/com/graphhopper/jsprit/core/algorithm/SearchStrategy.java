package com.graphhopper.jsprit.core.algorithm;

public class SearchStrategy {
    public static class DiscoveredSolution {}
}
