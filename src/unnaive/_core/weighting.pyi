"""Weighted products."""

from typing import overload

import numpy
import numpy.typing


@overload
def place_terms(codes: numpy.typing.NDArray[numpy.uint8], terms: numpy.typing.NDArray[numpy.int64], start: int, stop: int, places: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def place_terms(codes: numpy.typing.NDArray[numpy.uint16], terms: numpy.typing.NDArray[numpy.int64], start: int, stop: int, places: numpy.typing.NDArray[numpy.int64]) -> None: ...

@overload
def place_terms(codes: numpy.typing.NDArray[numpy.uint32], terms: numpy.typing.NDArray[numpy.int64], start: int, stop: int, places: numpy.typing.NDArray[numpy.int64]) -> None:
    """Cell of every term's table for rows start … stop."""

def gather_terms(places: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], start: int, out: numpy.typing.NDArray[numpy.float32]) -> None:
    """Entries of all terms for classes and some rows."""

def sum_terms(places: numpy.typing.NDArray[numpy.int64], tables: numpy.typing.NDArray[numpy.float64], held: numpy.typing.NDArray[numpy.int64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add the entries of all terms to the log joint."""

def weighted_joint(entries: numpy.typing.NDArray[numpy.float32], weights: numpy.typing.NDArray[numpy.float64], start: int, stop: int, joint: numpy.typing.NDArray[numpy.float64]) -> None:
    """Add the weighted entries of some rows to their joint."""

def loss_rows(entries: numpy.typing.NDArray[numpy.float32], weights: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], classes: numpy.typing.NDArray[numpy.int64], importance: numpy.typing.NDArray[numpy.float64], start: int, stop: int) -> float:
    """Log loss of some rows."""

def curve_rows(entries: numpy.typing.NDArray[numpy.float32], weights: numpy.typing.NDArray[numpy.float64], prior: numpy.typing.NDArray[numpy.float64], classes: numpy.typing.NDArray[numpy.int64], importance: numpy.typing.NDArray[numpy.float64], start: int, stop: int, places: numpy.typing.NDArray[numpy.int64], gradient: numpy.typing.NDArray[numpy.float64], spread: numpy.typing.NDArray[numpy.float32]) -> float:
    """Log loss of some rows, and its derivatives."""

def bounded_step(curvature: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64], room: numpy.typing.NDArray[numpy.float64], sweeps: int, enough: float, step: numpy.typing.NDArray[numpy.float64]) -> None:
    """Minimise a quadratic form under bounds, by coordinates."""

def mixture_shares(chances: numpy.typing.NDArray[numpy.float64], importance: numpy.typing.NDArray[numpy.float64], shares: numpy.typing.NDArray[numpy.float64], rounds: int, enough: float) -> None:
    """Improve shares of members, by expectation–maximisation."""
