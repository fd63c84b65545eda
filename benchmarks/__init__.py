"""Benchmarks of unnaive: other libraries, the limits of the machine, earlier versions."""
