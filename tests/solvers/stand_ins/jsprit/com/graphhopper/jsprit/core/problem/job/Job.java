package com.graphhopper.jsprit.core.problem.job;

public interface Job {
    String getId();
}
