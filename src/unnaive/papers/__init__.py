"""The papers' experiments, rerun by their own protocols, with the honest figure beside."""

from unnaive.papers.experiment import Experiment, Line, Reproduction, Step, Unit, reproduce

__all__ = ["Experiment", "Line", "Reproduction", "Step", "Unit", "reproduce"]
