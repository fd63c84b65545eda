"""Names for the types that several rooms share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ShortArray = NDArray[np.int32]
CodeArray = NDArray[Any]  # uint8, uint16 or uint32; the kernels check which
CountArray = NDArray[np.int64] | NDArray[np.float64]
BoolArray = NDArray[np.bool_]
AnyArray = NDArray[Any]
# The saved state of an object, the content of a JSON file, or a row of a table for pandas:
# plain values and arrays by name, and lists and dictionaries of them. Check it after reading.
State = dict[str, Any]
Label = Any  # of a class: a string, an integer, a float or a boolean, as the user passed it
