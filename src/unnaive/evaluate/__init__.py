"""How good a model is: metrics, cross-validation and leave-one-out."""

from unnaive.evaluate.crossvalidate import Evaluation, cross_validate, leave_one_out
from unnaive.metrics import Metrics, measure, predicted_codes

__all__ = [
    "Evaluation",
    "Metrics",
    "cross_validate",
    "leave_one_out",
    "measure",
    "predicted_codes",
]
