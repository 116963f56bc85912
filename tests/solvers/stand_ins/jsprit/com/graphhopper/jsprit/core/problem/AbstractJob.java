package com.graphhopper.jsprit.core.problem;

import com.graphhopper.jsprit.core.problem.job.Job;

public abstract class AbstractJob implements Job {}
