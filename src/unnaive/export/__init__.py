"""Models as files for other programs: JSON, JavaScript, SQL, ONNX; all made of one document."""

from unnaive.export.document import model_document
from unnaive.export.javascript import engine_module, javascript_types, to_javascript
from unnaive.export.json_file import json_schema, to_json
from unnaive.export.query import Query
from unnaive.export.targets import to_onnx, to_sql, write

__all__ = [
    "Query",
    "engine_module",
    "javascript_types",
    "json_schema",
    "model_document",
    "to_javascript",
    "to_json",
    "to_onnx",
    "to_sql",
    "write",
]
