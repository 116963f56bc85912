package com.graphhopper.jsprit.core.problem.solution.route;

import com.graphhopper.jsprit.core.problem.job.Service;
import com.graphhopper.jsprit.core.problem.solution.route.activity.TourActivity;
import java.util.ArrayList;
import java.util.List;

public class VehicleRoute {
    private final List<TourActivity> activities = new ArrayList<>();

    public VehicleRoute(List<Service> services) {
        for (Service service : services) {
            TourActivity.JobActivity activity = () -> service;
            activities.add(activity);
        }
    }

    public List<TourActivity> getActivities() {
        return activities;
    }
}
