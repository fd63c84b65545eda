"""Names for the types that cross rooms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ShortArray = NDArray[np.int32]
CodeArray = NDArray[Any]  # of uint8, uint16 or uint32, which kernels tell apart themselves
CountArray = NDArray[np.int64] | NDArray[np.float64]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]
# What the store keeps of an object, what a file of JSON holds, or a row of a table for pandas:
# plain values and arrays by name, lists and dictionaries of such. Whoever reads a file checks it.
State = dict[str, Any]
Label = Any  # of a class: a string, an integer, a float or a boolean, as the user gave it
