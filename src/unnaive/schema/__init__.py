"""The schema: categories, bin edges and classes; it turns rows into codes."""

from unnaive.schema.columns import CategoricalColumn, ColumnSchema, NumericColumn, sorted_labels
from unnaive.schema.learn import label_array, learn_schema, learn_target
from unnaive.schema.schema import Schema, refuse_unusable_target

__all__ = [
    "CategoricalColumn",
    "ColumnSchema",
    "NumericColumn",
    "Schema",
    "label_array",
    "learn_schema",
    "learn_target",
    "refuse_unusable_target",
    "sorted_labels",
]
