"""Measurements of unnaive: against other libraries, against the machine, against itself."""
