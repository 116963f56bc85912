package com.graphhopper.jsprit.core.util;

public class RandomNumberGeneration {
    public static void setSeed(long seed) {}
}
