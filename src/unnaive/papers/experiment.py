"""What the reruns of all papers share: units of work that survive, and lines beside the paper's."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from unnaive import _parallel
from unnaive.evaluate.runs import Runs
from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from unnaive._typing import State
    from unnaive.datasets import Dataset

    Results = Mapping[str, State]  # of units, by their keys, as a file of JSON keeps them


@dataclass(frozen=True)
class Unit:
    """A piece of work: ``work()`` gives plain values, the same whenever and wherever it runs.

    ``cost`` tells what to begin with, so that no thread is left alone with the longest.
    """

    key: str
    work: Callable[[], State]
    cost: float = 1.0


@dataclass(frozen=True)
class Line:
    """A figure of a paper, and ours.

    Attributes
    ----------
    table, data, model, metric : str
        Where the paper printed it, and of what.
    published, ours : float or None
    deviation : float or None
        Standard deviation of our runs.
    runs : int
    tolerance : float or None
        How far apart figures may be by chance; None: nothing can be said.
    honest : float or None
        The same without what makes the paper's figure too good: nested cross-validation.
    note : str
    """

    table: str
    data: str
    model: str
    metric: str
    published: float | None
    ours: float | None
    deviation: float | None = None
    runs: int = 1
    tolerance: float | None = None
    honest: float | None = None
    note: str = ""

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def within(self) -> bool | None:
        """Whether the difference is within chance."""
        if self.difference is None or self.tolerance is None:
            return None
        return abs(self.difference) <= self.tolerance + 1e-9


def mean_and_spread(runs: ArrayLike) -> tuple[float, float | None, int]:
    """Return what :class:`Line` calls ours, deviation and runs; one run has no deviation.

    Examples
    --------
    >>> mean_and_spread([1.0, 2.0, 3.0]), mean_and_spread([5.0])
    ((2.0, 1.0, 3), (5.0, None, 1))
    """
    values = np.asarray(runs)
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return float(values.mean()), spread, len(values)


def nearness(lines: Iterable[Line], model: str, points: float) -> str:
    """Say how many figures of a model are near the paper's, and which are not."""
    mine = [line for line in lines if line.model == model]
    near = sum(line.within is True for line in mine)
    far = [f"{line.data} {line.difference:+.2f}" for line in mine if line.within is False]
    text = f"{model}: {near} of {len(mine)} within {points} points of the paper"
    return text + (f"; not {', '.join(far)}" if far else "")


@dataclass(frozen=True)
class Step:
    """How far an experiment is."""

    done: int
    total: int
    key: str


@dataclass(frozen=True)
class Reproduction:
    """A paper's experiment, done again."""

    paper: str
    title: str
    settings: State
    lines: tuple[Line, ...]
    remarks: tuple[str, ...]
    seconds: float
    resumed: int = 0

    def to_dict(self) -> State:
        """Plain values."""
        return {
            **{name: value for name, value in asdict(self).items() if name != "lines"},
            "lines": [
                {**asdict(line), "difference": line.difference, "within": line.within}
                for line in self.lines
            ],
        }

    def to_json(self) -> str:
        """JSON, for the results page."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


@dataclass(kw_only=True)
class Experiment(ABC):
    """A paper's protocol.

    Parameters
    ----------
    quick : bool, default=False
        Fewer runs on fewer data sets: minutes, not half an hour.
    honest : bool, default=False
        Also estimate by nested cross-validation.
    runs : int or None, default=None
        Repetitions; None: the experiment's own number.
    seed : int, default=0
    only : sequence of str, default=()
        Data sets, by the paper's names; none: all.
    """

    quick: bool = False
    honest: bool = False
    runs: int | None = None
    seed: int = 0
    only: Sequence[str] = ()

    key: ClassVar[str]
    title: ClassVar[str]
    default_runs: ClassVar[tuple[int, int]] = (5, 1)  # and in a hurry
    names: ClassVar[Mapping[str, str]]  # the paper's name of a data set: ours

    @property
    def n_runs(self) -> int:
        """Repetitions."""
        return self.default_runs[self.quick] if self.runs is None else self.runs

    @property
    def chosen(self) -> list[str]:
        """Data sets by the paper's names; in a hurry, the small ones."""
        strange = [name for name in self.only if name not in self.names]
        if strange:
            known = ", ".join(self.names)
            raise UnnaiveError(f"the paper has no data set {strange[0]!r}; it has {known}")
        if self.only or not self.quick:
            return list(self.only or self.names)
        return [name for name in self.names if self.is_small(name)]

    def is_small(self, name: str) -> bool:  # noqa: ARG002 - where all sets are
        """Whether there is time for a data set in a hurry."""
        return True

    @property
    def settings(self) -> State:
        """What results depend on besides the key of a unit."""
        return {"paper": self.key, "seed": self.seed, "quick": self.quick}

    def data(self, name: str) -> Dataset:
        """Load a data set by the paper's name."""
        from unnaive.datasets import load  # noqa: PLC0415 - costs time to import

        return load(self.names[name])

    @abstractmethod
    def units(self) -> list[Unit]:
        """List the work; keys say what, of which data set, and which run."""

    @abstractmethod
    def lines(self, results: Results) -> list[Line]:
        """Put results, by the keys of their units, beside the paper's figures."""

    @abstractmethod
    def remarks(self, lines: Sequence[Line]) -> list[str]:
        """Say what is odd, and what we conclude."""


def reproduce(
    experiment: Experiment,
    *,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    watch: Callable[[Step], None] | None = None,
) -> Reproduction:
    """Run an experiment, on threads, and go on where an interrupted one stopped.

    Parameters
    ----------
    experiment : Experiment
    store : path, default=None
        File of finished units; see :class:`~unnaive.evaluate.runs.Runs`.
    n_jobs : int, default=None
        Units at a time. Results are the same for any number.
    watch : callable, default=None
        Told of every :class:`Step`.
    """
    start = time.perf_counter()
    units = sorted(experiment.units(), key=lambda unit: -unit.cost)
    runs = None if store is None else Runs(store, experiment.settings)
    results: dict[str, State] = {}
    if runs is not None:
        results = {unit.key: runs.get(unit.key) for unit in units if unit.key in runs}
    resumed = len(results)

    def work(unit: Unit) -> None:
        result = unit.work()
        if runs is not None:
            runs.put(unit.key, result)
            result = runs.get(unit.key)
        results[unit.key] = result
        if watch is not None:
            watch(Step(len(results), len(units), unit.key))

    _parallel.run(work, [unit for unit in units if unit.key not in results], n_jobs)
    lines = experiment.lines(results)
    return Reproduction(
        experiment.key,
        experiment.title,
        {**experiment.settings, "runs": experiment.n_runs, "honest": experiment.honest},
        tuple(lines),
        tuple(experiment.remarks(lines)),
        time.perf_counter() - start,
        resumed,
    )
