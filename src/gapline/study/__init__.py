"""`Study`: the input of every command."""

from gapline.study.contract_choices import DEFAULT_KERNEL as DEFAULT_KERNEL
from gapline.study.contract_choices import declared_choices as declared_choices
from gapline.study.contract_choices import score_options as score_options
from gapline.study.opening import open_studies as open_studies
from gapline.study.opening import open_study as open_study
from gapline.study.study import Study as Study
