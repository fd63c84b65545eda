"""Learn a schema from rows that are never together: sketches that add up, exactly."""

from unnaive.schema.sketch.sketch import SchemaSketch

__all__ = ["SchemaSketch"]
