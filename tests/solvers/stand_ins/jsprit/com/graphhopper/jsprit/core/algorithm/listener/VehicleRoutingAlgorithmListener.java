package com.graphhopper.jsprit.core.algorithm.listener;

public interface VehicleRoutingAlgorithmListener {}
