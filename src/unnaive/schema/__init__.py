"""What the columns are, and how rows become codes."""

from unnaive.schema.columns import CategoricalColumn, ColumnSchema, NumericColumn
from unnaive.schema.learn import learn_schema, learn_target
from unnaive.schema.schema import Schema, refuse_unusable_target

__all__ = [
    "CategoricalColumn",
    "ColumnSchema",
    "NumericColumn",
    "Schema",
    "learn_schema",
    "learn_target",
    "refuse_unusable_target",
]
