package com.graphhopper.jsprit.core.algorithm.termination;

import com.graphhopper.jsprit.core.algorithm.SearchStrategy;

public interface PrematureAlgorithmTermination {
    boolean isPrematureBreak(SearchStrategy.DiscoveredSolution discoveredSolution);
}
