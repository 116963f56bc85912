package org.slf4j;

public class LoggerFactory {}
