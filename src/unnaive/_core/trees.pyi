"""Trees over columns."""

from typing import Annotated

import numpy
import numpy.typing


def spanning_tree(weights: Annotated[numpy.typing.NDArray[numpy.float64], 2], active: Annotated[numpy.typing.NDArray[numpy.bool_], 1], edges: Annotated[numpy.typing.NDArray[numpy.int64], 2]) -> int:
    """Maximum spanning tree of the active columns."""
