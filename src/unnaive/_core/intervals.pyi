"""Distributions inside intervals."""

import numpy
import numpy.typing


EPSILON: float = 1e-06

CENTRED: int = 0

LINEAR: int = 1

ABSOLUTE: int = 2

PROJECT: int = 0

NORMALISE: int = 1

def score(genomes: numpy.typing.NDArray[numpy.float64], setting: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], rows: tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Weight of the rows that each genome (m, size) gets right."""

def fill_joint(genome: numpy.typing.NDArray[numpy.float64], setting: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], rows: tuple[numpy.typing.NDArray[numpy.uint32], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]], some: tuple[int, int], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Log joint (n, k) of the rows of some segments under a genome."""

def fill_distributions(genome: numpy.typing.NDArray[numpy.float64], setting: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], prior: numpy.typing.NDArray[numpy.float64], chances: numpy.typing.NDArray[numpy.float64]) -> None:
    """P(c) and P(cell | c) of a genome."""

def fill_left_out(genome: numpy.typing.NDArray[numpy.float64], weight: float, setting: tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], prior: numpy.typing.NDArray[numpy.float64], own: numpy.typing.NDArray[numpy.float64]) -> None:
    """P(c) without a row of each class, P(cell | c) without one of it."""

def fill_bounds(counts: numpy.typing.NDArray[numpy.float64], z: float, alpha: float, out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Estimates and both ends of the intervals of lines of counts."""

def project(boxes: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Nearest point of boxes (3, v) that sums to 1."""
