"""ONNX graphs: nodes and constants, and the formulas that kinds of tables share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from unnaive._docstrings import described_like
from unnaive.exceptions import UnnaiveError
from unnaive.export.reading import LOST

try:
    from onnx import TensorProto, checker, helper, numpy_helper
except ImportError:
    raise UnnaiveError('ONNX needs onnx: pip install "unnaive[onnx]"') from None

if TYPE_CHECKING:
    from collections.abc import Sequence

    from onnx import ModelProto, NodeProto

    from unnaive._typing import AnyArray, FloatArray

_OPSET, _ML_OPSET, _IR = 17, 2, 8
ELEMENTS = {"str": TensorProto.STRING, "float": TensorProto.DOUBLE, "int": TensorProto.INT64}
ELEMENTS["bool"] = TensorProto.BOOL


class Graph:
    """Collects nodes and constants; every method returns the name of a result.

    Parameters
    ----------
    taken : list of str
        Names of the inputs, which results must not have.
    """

    def __init__(self, taken: Sequence[str]) -> None:
        self._nodes: list[NodeProto] = []
        self._names: dict[tuple[str, ...], str] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], TensorProto] = {}
        self._prefix = "unnaive"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one result; equal ones are added once.

        Parameters
        ----------
        kind : str
            Name of the operator.
        *inputs : str
            Names of its inputs.
        **attributes : object
            Its attributes.

        Returns
        -------
        str
            Name of the result.
        """
        key = (kind, *inputs, repr(sorted(attributes.items())))
        if key in self._names:
            return self._names[key]
        name = self._names[key] = f"{self._prefix}_{len(self._nodes)}"
        domain = "ai.onnx.ml" if kind == "LabelEncoder" else ""
        made = helper.make_node(kind, list(inputs), [name], domain=domain, **attributes)
        self._nodes.append(made)
        return name

    def constant(self, value: AnyArray) -> str:
        """Add a constant; equal ones are stored once.

        Parameters
        ----------
        value : ndarray
            The constant.

        Returns
        -------
        str
            Its name.
        """
        value = np.ascontiguousarray(value)
        content = repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
        key = (str(value.dtype), value.shape, content)
        if key not in self._constants:
            name = f"{self._prefix}_c{len(self._constants)}"
            self._constants[key] = numpy_helper.from_array(value, name)
        return str(self._constants[key].name)

    def number(self, value: float) -> str:
        """Add a double."""
        return self.constant(np.array(value, dtype=np.float64))

    def integers(self, values: Sequence[int]) -> str:
        """Add integers."""
        return self.constant(np.array(values, dtype=np.int64))

    def add(self, names: Sequence[str]) -> str:
        """Add up results."""
        total = names[0]
        for name in names[1:]:
            total = self.node("Add", total, name)
        return total

    def shaped(self, name: str, shape: Sequence[int]) -> str:
        """Reshape.

        Parameters
        ----------
        name : str
            What is reshaped.
        shape : list of int
            The shape; −1 is the number of rows.

        Returns
        -------
        str
            Name of the result.
        """
        return self.node("Reshape", name, self.integers(shape))

    def total(self, name: str, axis: int, *, keep: bool = False) -> str:
        """Sum over an axis.

        Parameters
        ----------
        name : str
            What is summed.
        axis : int
            The axis.
        keep : bool, default=False
            Whether the axis stays, with length 1.

        Returns
        -------
        str
            Name of the result.
        """
        return self.node("ReduceSum", name, self.integers([axis]), keepdims=int(keep))

    def largest(self, name: str, axis: int, *, keep: bool = False) -> str:
        """Return the largest number along an axis."""
        return self.node("ReduceMax", name, axes=[axis], keepdims=int(keep))

    @described_like(total)
    def log_sum(self, name: str, axis: int, *, keep: bool = False) -> str:
        r"""Return log Σ e^x along an axis.

        .. math:: \log \sum_i e^{x_i} = m + \log \sum_i e^{x_i - m}, \quad m = \max_i x_i

        """
        top = self.largest(name, axis, keep=True)
        parts = self.node("Exp", self.node("Sub", name, top))
        total = self.node("Add", top, self.node("Log", self.total(parts, axis, keep=True)))
        return total if keep else self.node("Squeeze", total, self.integers([axis]))

    def rows(self, table: FloatArray, index: str) -> str:
        """Return the lines of a table by their numbers.

        Parameters
        ----------
        table : ndarray of shape (m, …)
            The table.
        index : str
            Numbers of lines, of any shape.

        Returns
        -------
        str
            Name of the lines.
        """
        return self.node("Gather", self.constant(table), index, axis=0)

    def number_of(self, codes: Sequence[str], sizes: Sequence[int]) -> str:
        """Return the number of a joint value, the last code fastest.

        Parameters
        ----------
        codes : list of str
            Codes (n,).
        sizes : list of int
            Number of values of each code.

        Returns
        -------
        str
            Name of the numbers (n,).
        """
        total = codes[0]
        for code, size in zip(codes[1:], sizes[1:], strict=True):
            total = self.node("Add", self.node("Mul", total, self.integers([size])), code)
        return total

    def as_double(self, name: str) -> str:
        """Convert truth values or integers to doubles."""
        return self.node("Cast", name, to=TensorProto.DOUBLE)

    def any(self, names: Sequence[str]) -> str:
        """Whether one of some conditions holds; shape (n,)."""
        found = names[0]
        for name in names[1:]:
            found = self.node("Or", found, name)
        return found

    def stacked(self, names: Sequence[str], axis: int) -> str:
        """Stack results along a new axis."""
        wide = [self.node("Unsqueeze", name, self.integers([axis])) for name in names]
        return self.node("Concat", *wide, axis=axis)

    def for_rows(self, joint: str, given: str) -> str:
        """Repeat a log joint that is the same for all rows, as many times as there are rows."""
        rows = self.node("Slice", self.node("Shape", given), *map(self.integers, ([0], [1])))
        shape = self.node("Concat", rows, self.integers([1]), axis=0)
        return self.node("Expand", joint, shape)

    def unless_lost(self, joint: str, instead: str) -> str:
        """Replace a log joint in which every class has probability 0.

        Parameters
        ----------
        joint : str
            Log joint (n, k).
        instead : str
            What stands for it.

        Returns
        -------
        str
            Name of the log joint.
        """
        lost = self.node("Less", self.largest(joint, 1, keep=True), self.number(LOST))
        return self.node("Where", lost, instead, joint)

    def normalised(self, joint: str) -> str:
        """Return log posteriors (n, k)."""
        return self.node("Sub", joint, self.log_sum(joint, 1, keep=True))

    def scaled(self, joint: str, temperature: float, bias: FloatArray) -> str:
        """Calibrate a log joint.

        Parameters
        ----------
        joint : str
            Log joint (n, k).
        temperature : float
            τ.
        bias : ndarray of shape (k,)
            b.

        Returns
        -------
        str
            Name of τ log P(c, x) + b_c.
        """
        # onnxruntime drops a multiplication by one number that is 1 as a float, so it is repeated.
        factors = self.constant(np.full((1, len(bias)), temperature))
        return self.node("Add", self.node("Mul", joint, factors), self.constant(bias[None]))

    def model(
        self, inputs: dict[str, str], label: tuple[str, str], chances: str, n_classes: int
    ) -> ModelProto:
        """Make the model, and check it.

        Parameters
        ----------
        inputs : dict
            Type of every input, "str" or "float", by its name.
        label : tuple of two str
            Name of the labels (n,), and their type.
        chances : str
            Name of the probabilities (n, k).
        n_classes : int
            Number of classes k.

        Returns
        -------
        ModelProto
            The model.
        """
        given = [
            helper.make_tensor_value_info(name, ELEMENTS[kind], [None, 1])
            for name, kind in inputs.items()
        ]
        ends = [("label", label[0]), ("probabilities", chances)]
        for name, made in ends:
            self._nodes.append(helper.make_node("Identity", [made], [name]))
        results = [
            helper.make_tensor_value_info("label", ELEMENTS[label[1]], [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.DOUBLE, [None, n_classes]),
        ]
        constants = list(self._constants.values())
        graph = helper.make_graph(self._nodes, "unnaive", given, results, initializer=constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=opsets, ir_version=_IR, producer_name="unnaive"
        )
        checker.check_model(model)
        return model
