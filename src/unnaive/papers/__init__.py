"""Experiments of four papers, run again by their protocols and compared with their figures."""

from unnaive.papers.experiment import Experiment, Line, Reproduction, Step, Unit, reproduce

__all__ = ["Experiment", "Line", "Reproduction", "Step", "Unit", "reproduce"]
