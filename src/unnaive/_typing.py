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

# What the store keeps of a thing: nested dictionaries and lists of texts, numbers and None, as
# JSON has them, and arrays. Its shape is known to the ``state`` that wrote it and the
# ``from_state`` that reads it, and to nobody else.
State = dict[str, Any]
