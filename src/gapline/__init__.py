"""Judge anytime optimization solvers by the whole line of the gap over time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gapline.contract.version import VERSION as __version__

# Public name -> where it lives. Loaded on first use, so that `import gapline` stays light.
_HOMES = {
    "Bootstrap": "gapline.statistics.bootstrap",
    "Campaign": "gapline.campaign.campaign",
    "Envelopes": "gapline.envelope.build",
    "GaplineError": "gapline.errors",
    "Reading": "gapline.contract.reading",
    "Results": "gapline.report.results",
    "Scores": "gapline.scoring.scores",
    "Snapshot": "gapline.references.snapshot",
    "Study": "gapline.study",
    "Summary": "gapline.statistics.means",
    "analyse": "gapline.study.analyse",
    "analysis_snapshot": "gapline.references.policy",
    "attainment_curve": "gapline.scoring.attainment",
    "build_envelopes": "gapline.envelope.build",
    "check_study": "gapline.run.check_run",
    "compare": "gapline.study.comparison",
    "complementarity": "gapline.study.complementarity",
    "contrasts": "gapline.statistics.contrasts",
    "curve_bands": "gapline.statistics.bands",
    "diff_snapshots": "gapline.references.diff",
    "find_alarms": "gapline.references.alarms",
    "find_contradictions": "gapline.references.contradictions",
    "fold_snapshot": "gapline.references.fold",
    "freeze_snapshot": "gapline.references.freeze",
    "function_weight": "gapline.scoring.user_functions",
    "horizon_sweep": "gapline.study.horizon_sweep",
    "import_logs": "gapline.logs.importer",
    "kernel_inverse": "gapline.scoring.convert",
    "load_checker": "gapline.checkers",
    "load_contract": "gapline.contract.study_file",
    "mean_curve": "gapline.scoring.curve",
    "merge": "gapline.traces.merge:merge_campaigns",
    "open": "gapline.campaign.store:open_campaign",
    "open_study": "gapline.study",
    "pack": "gapline.package.pack",
    "power_table": "gapline.statistics.power",
    "primal_integral": "gapline.scoring.integral",
    "ranking": "gapline.statistics.ranking",
    "read": "gapline.traces.read",
    "read_references": "gapline.references.freeze",
    "read_results": "gapline.report.results",
    "record": "gapline.traces.recording",
    "register_kernel": "gapline.scoring.kernels",
    "replicate": "gapline.package.replicate",
    "resolution_bound": "gapline.scoring.printed_integrals",
    "run_study": "gapline.run.campaign",
    "scale_table": "gapline.scoring.convert",
    "score": "gapline.scoring.scores",
    "score_grid": "gapline.scoring.scores",
    "score_of_raw_gap": "gapline.scoring.convert",
    "snapshot_log": "gapline.references.history",
    "step_weight": "gapline.contract.names",
    "study_status": "gapline.run.resume",
    "summarise": "gapline.statistics.means",
    "verify": "gapline.package.verify",
    "write_report": "gapline.report.write",
}

__all__ = [
    "Bootstrap",
    "Campaign",
    "Envelopes",
    "GaplineError",
    "Reading",
    "Results",
    "Scores",
    "Snapshot",
    "Study",
    "Summary",
    "__version__",
    "analyse",
    "analysis_snapshot",
    "attainment_curve",
    "build_envelopes",
    "check_study",
    "compare",
    "complementarity",
    "contrasts",
    "curve_bands",
    "diff_snapshots",
    "find_alarms",
    "find_contradictions",
    "fold_snapshot",
    "freeze_snapshot",
    "function_weight",
    "horizon_sweep",
    "import_logs",
    "kernel_inverse",
    "load_checker",
    "load_contract",
    "mean_curve",
    "merge",
    "open",
    "open_study",
    "pack",
    "power_table",
    "primal_integral",
    "ranking",
    "read",
    "read_references",
    "read_results",
    "record",
    "register_kernel",
    "replicate",
    "resolution_bound",
    "run_study",
    "scale_table",
    "score",
    "score_grid",
    "score_of_raw_gap",
    "snapshot_log",
    "step_weight",
    "study_status",
    "summarise",
    "verify",
    "write_report",
]

if TYPE_CHECKING:
    from gapline.campaign.campaign import Campaign as Campaign
    from gapline.campaign.store import open_campaign as open
    from gapline.checkers import load_checker as load_checker
    from gapline.contract.names import step_weight as step_weight
    from gapline.contract.reading import Reading as Reading
    from gapline.contract.study_file import load_contract as load_contract
    from gapline.envelope.build import Envelopes as Envelopes
    from gapline.envelope.build import build_envelopes as build_envelopes
    from gapline.errors import GaplineError as GaplineError
    from gapline.logs.importer import import_logs as import_logs
    from gapline.package.pack import pack as pack
    from gapline.package.replicate import replicate as replicate
    from gapline.package.verify import verify as verify
    from gapline.references.alarms import find_alarms as find_alarms
    from gapline.references.contradictions import find_contradictions as find_contradictions
    from gapline.references.diff import diff_snapshots as diff_snapshots
    from gapline.references.fold import fold_snapshot as fold_snapshot
    from gapline.references.freeze import freeze_snapshot as freeze_snapshot
    from gapline.references.freeze import read_references as read_references
    from gapline.references.history import snapshot_log as snapshot_log
    from gapline.references.policy import analysis_snapshot as analysis_snapshot
    from gapline.references.snapshot import Snapshot as Snapshot
    from gapline.report.results import Results as Results
    from gapline.report.results import read_results as read_results
    from gapline.report.write import write_report as write_report
    from gapline.run.campaign import run_study as run_study
    from gapline.run.check_run import check_study as check_study
    from gapline.run.resume import study_status as study_status
    from gapline.scoring.attainment import attainment_curve as attainment_curve
    from gapline.scoring.convert import kernel_inverse as kernel_inverse
    from gapline.scoring.convert import scale_table as scale_table
    from gapline.scoring.convert import score_of_raw_gap as score_of_raw_gap
    from gapline.scoring.curve import mean_curve as mean_curve
    from gapline.scoring.integral import primal_integral as primal_integral
    from gapline.scoring.kernels import register_kernel as register_kernel
    from gapline.scoring.printed_integrals import resolution_bound as resolution_bound
    from gapline.scoring.scores import Scores as Scores
    from gapline.scoring.scores import score as score
    from gapline.scoring.scores import score_grid as score_grid
    from gapline.scoring.user_functions import function_weight as function_weight
    from gapline.statistics.bands import curve_bands as curve_bands
    from gapline.statistics.bootstrap import Bootstrap as Bootstrap
    from gapline.statistics.contrasts import contrasts as contrasts
    from gapline.statistics.means import Summary as Summary
    from gapline.statistics.means import summarise as summarise
    from gapline.statistics.power import power_table as power_table
    from gapline.statistics.ranking import ranking as ranking
    from gapline.study import Study as Study
    from gapline.study import open_study as open_study
    from gapline.study.analyse import analyse as analyse
    from gapline.study.comparison import compare as compare
    from gapline.study.complementarity import complementarity as complementarity
    from gapline.study.horizon_sweep import horizon_sweep as horizon_sweep
    from gapline.traces.merge import merge_campaigns as merge
    from gapline.traces.read import read as read
    from gapline.traces.recording import record as record


# Modules that are used by their own name: `gl.hooks.cpsat`.
_MODULES = ("figures", "hooks")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"gapline.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gapline' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
