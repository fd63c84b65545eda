"""Names for the array types that cross rooms."""

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
# What the store keeps of an object, or a page or file of JSON holds: plain values, arrays, and
# lists and dictionaries of such, by name. What it is of differs, so whoever reads one checks it.
State = dict[str, Any]
