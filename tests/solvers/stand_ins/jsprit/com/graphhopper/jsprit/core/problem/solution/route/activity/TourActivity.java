package com.graphhopper.jsprit.core.problem.solution.route.activity;

import com.graphhopper.jsprit.core.problem.job.Job;

public interface TourActivity {
    interface JobActivity extends TourActivity {
        Job getJob();
    }
}
