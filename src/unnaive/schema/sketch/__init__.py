"""Learn a schema from batches of rows, by sketches that can be merged exactly."""

from unnaive.schema.sketch.sketch import SchemaSketch

__all__ = ["SchemaSketch"]
