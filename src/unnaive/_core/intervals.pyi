"""Distributions inside intervals."""

from typing import Annotated

import numpy
import numpy.typing


EPSILON: float = 1e-06

CENTRED: int = 0

LINEAR: int = 1

ABSOLUTE: int = 2

PROJECT: int = 0

NORMALISE: int = 1

def score(genomes: Annotated[numpy.typing.NDArray[numpy.float64], 2], setting: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], rows: tuple[Annotated[numpy.typing.NDArray[numpy.uint32], 2], Annotated[numpy.typing.NDArray[numpy.int64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1]], out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Weight of the rows that each genome (m, size) gets right."""

def fill_joint(genome: Annotated[numpy.typing.NDArray[numpy.float64], 1], setting: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], rows: tuple[Annotated[numpy.typing.NDArray[numpy.uint32], 2], Annotated[numpy.typing.NDArray[numpy.int64], 2], Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.int64], 1]], some: tuple[int, int], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log joint (n, k) of the rows of some segments under a genome."""

def fill_distributions(genome: Annotated[numpy.typing.NDArray[numpy.float64], 1], setting: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], chances: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """P(c) and P(cell | c) of a genome."""

def fill_left_out(genome: Annotated[numpy.typing.NDArray[numpy.float64], 1], weight: float, setting: tuple[Annotated[numpy.typing.NDArray[numpy.float64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 2], Annotated[numpy.typing.NDArray[numpy.int64], 1], tuple[float, float, int, int, float], tuple[float, float, int, int, float]], prior: Annotated[numpy.typing.NDArray[numpy.float64], 2], own: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """P(c) without a row of each class, P(cell | c) without one of it."""

def fill_bounds(counts: Annotated[numpy.typing.NDArray[numpy.float64], 2], z: float, alpha: float, out: Annotated[numpy.typing.NDArray[numpy.float64], 3]) -> None:
    """Estimates and both ends of the intervals of lines of counts."""

def project(boxes: Annotated[numpy.typing.NDArray[numpy.float64], 2], out: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Nearest point of boxes (3, v) that sums to 1."""
