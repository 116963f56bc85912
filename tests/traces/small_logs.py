"""Logs of a few lines, to be written into the folder of a test."""

HGS = "{name}.vrp;{seed};100;0.5\n{name}.vrp;{seed};90;1.5\n"


OLINES = "c wall time: 1.0\no 10\ns SATISFIABLE\n"


def dimacs(instance="I1", arm="team", bks="1000.0", rows="1080.0 1 10.0\n", *, end=True, optimal="0"):
    return (
        f"Instance: {instance}\nStandardized Time limit: 100 secs\nBKS: {bks}\nOptimal: {optimal}\nCompetitor: {arm}\n"
        f"Solution value, local machine time, standardized time\n{rows}" + ("Primal Integral: 8.2\n" if end else "")
    )
