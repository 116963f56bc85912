// The means are painted before the runs are decoded.
requestAnimationFrame(() => setTimeout(start, 0));
