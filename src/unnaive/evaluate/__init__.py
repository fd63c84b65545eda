"""Evaluation: metrics, cross-validation, leave-one-out, comparison of models, significance."""

from unnaive._progress import Progress, progress
from unnaive.evaluate.compare import Step, compare, compare_many
from unnaive.evaluate.comparison import Comparison, Failure
from unnaive.evaluate.comparisons import Comparisons
from unnaive.evaluate.crossvalidate import Evaluation, cross_validate, leave_one_out
from unnaive.evaluate.drift import Change, Drift, drift
from unnaive.evaluate.folds import WekaStratifiedKFold
from unnaive.evaluate.risk import RiskCoverage, risk_coverage
from unnaive.evaluate.runs import Runs, hash_rows
from unnaive.evaluate.significance import (
    corrected_resampled_t,
    friedman,
    holm,
    mann_whitney,
    nemenyi,
    sign_test,
    wilcoxon_signed_rank,
)
from unnaive.evaluate.verdicts import FriedmanVerdict, NemenyiVerdict, Verdict
from unnaive.metrics import Metrics, measure, predicted_codes

__all__ = [
    "Change",
    "Comparison",
    "Comparisons",
    "Drift",
    "Evaluation",
    "Failure",
    "FriedmanVerdict",
    "Metrics",
    "NemenyiVerdict",
    "Progress",
    "RiskCoverage",
    "Runs",
    "Step",
    "Verdict",
    "WekaStratifiedKFold",
    "compare",
    "compare_many",
    "corrected_resampled_t",
    "cross_validate",
    "drift",
    "friedman",
    "hash_rows",
    "holm",
    "leave_one_out",
    "mann_whitney",
    "measure",
    "nemenyi",
    "predicted_codes",
    "progress",
    "risk_coverage",
    "sign_test",
    "wilcoxon_signed_rank",
]
