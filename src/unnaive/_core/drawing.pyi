"""Genes drawn within bounds."""

from typing import Annotated

import numpy
import numpy.typing


def draw_within(normals: Annotated[numpy.typing.NDArray[numpy.float64], 1], order: Annotated[numpy.typing.NDArray[numpy.int64], 1], around: Annotated[numpy.typing.NDArray[numpy.float64], 2], bounds: Annotated[numpy.typing.NDArray[numpy.float64], 2], redraws: int, first: int, genes: Annotated[numpy.typing.NDArray[numpy.float64], 2]) -> tuple[int, int]:
    """Fill lines of genes with Gaussians that are within bounds."""
