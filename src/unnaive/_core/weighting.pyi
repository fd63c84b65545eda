"""Weighted products."""

from typing import Annotated, overload

import numpy
import numpy.typing


@overload
def place_terms(codes: Annotated[numpy.typing.NDArray[numpy.uint8], 2], terms: Annotated[numpy.typing.NDArray[numpy.int64], 2], start: int, stop: int, places: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def place_terms(codes: Annotated[numpy.typing.NDArray[numpy.uint16], 2], terms: Annotated[numpy.typing.NDArray[numpy.int64], 2], start: int, stop: int, places: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None: ...

@overload
def place_terms(codes: Annotated[numpy.typing.NDArray[numpy.uint32], 2], terms: Annotated[numpy.typing.NDArray[numpy.int64], 2], start: int, stop: int, places: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> None:
    """Cell of every term's table for rows start … stop."""

def gather_terms(places: Annotated[numpy.typing.NDArray[numpy.int64], 2], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], start: int, out: Annotated[numpy.typing.NDArray[numpy.float32], 3]) -> None:
    """Entries of all terms for classes and some rows."""

def sum_terms(places: Annotated[numpy.typing.NDArray[numpy.int64], 2], tables: Annotated[numpy.typing.NDArray[numpy.float64], 2], held: Annotated[numpy.typing.NDArray[numpy.int64], 1], out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add the entries of all terms to the log joint."""

def weighted_joint(entries: Annotated[numpy.typing.NDArray[numpy.float32], 3], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], start: int, stop: int, joint: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Add the weighted entries of some rows to their joint."""

def loss_rows(entries: Annotated[numpy.typing.NDArray[numpy.float32], 3], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], start: int, stop: int) -> float:
    """Log loss of some rows."""

def curve_rows(entries: Annotated[numpy.typing.NDArray[numpy.float32], 3], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], classes: Annotated[numpy.typing.NDArray[numpy.int64], 1], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], start: int, stop: int, places: Annotated[numpy.typing.NDArray[numpy.int64], 1], gradient: Annotated[numpy.typing.NDArray[numpy.float64], 1], spread: Annotated[numpy.typing.NDArray[numpy.float32], 3]) -> float:
    """Log loss of some rows, and its derivatives."""

def curve_blocks(entries: Annotated[numpy.typing.NDArray[numpy.float32], 3], weights: Annotated[numpy.typing.NDArray[numpy.float64], 1], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], rows: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], places: Annotated[numpy.typing.NDArray[numpy.int64], 1], losses: Annotated[numpy.typing.NDArray[numpy.float64], 1], gradients: Annotated[numpy.typing.NDArray[numpy.float64], 2], spread: Annotated[numpy.typing.NDArray[numpy.float32], 1]) -> None:
    """Log loss of all blocks of rows, and its derivatives."""

def bounded_step(curvature: Annotated[numpy.typing.NDArray[numpy.float64], 2], gradient: Annotated[numpy.typing.NDArray[numpy.float64], 1], room: Annotated[numpy.typing.NDArray[numpy.float64], 1], sweeps: int, enough: float, step: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Minimise a quadratic form under bounds, by coordinates."""

def mixture_shares(chances: Annotated[numpy.typing.NDArray[numpy.float64], 2], importance: Annotated[numpy.typing.NDArray[numpy.float64], 1], shares: Annotated[numpy.typing.NDArray[numpy.float64], 1], rounds: int, enough: float) -> None:
    """Improve shares of members, by expectation–maximisation."""

def fit_weights(entries: Annotated[numpy.typing.NDArray[numpy.float32], 3], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], rows: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], penalties: Annotated[numpy.typing.NDArray[numpy.float64], 1], limits: tuple[float, int, int, int], enough: float, point: Annotated[numpy.typing.NDArray[numpy.float64], 1]) -> None:
    """Minimise the penalised log loss of weights and biases."""

def held_out_joints(entries: Annotated[numpy.typing.NDArray[numpy.float32], 3], prior: Annotated[numpy.typing.NDArray[numpy.float64], 1], rows: tuple[Annotated[numpy.typing.NDArray[numpy.int64], 1], Annotated[numpy.typing.NDArray[numpy.float64], 1]], bounds: Annotated[numpy.typing.NDArray[numpy.int64], 1], penalties: Annotated[numpy.typing.NDArray[numpy.float64], 1], limits: tuple[float, int, int, int], point: Annotated[numpy.typing.NDArray[numpy.float64], 1], n_folds: int, out: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> None:
    """Log joint of every row with weights fitted without its fold."""
