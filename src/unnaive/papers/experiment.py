"""Shared parts of all experiments: units of work, and our results beside the published ones."""

from __future__ import annotations

import json
import time
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass, field
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

    Results = Mapping[str, State]  # results of units by key, as JSON values


@dataclass(frozen=True)
class Unit:
    """A unit of work of an experiment.

    Parameters
    ----------
    key : str
        Unique name, by which the result is saved.
    work : callable
        Returns the result as plain values. It must not depend on other units.
    cost : float, default=1.0
        Relative cost. Expensive units run first, so that threads finish together.

    See Also
    --------
    Experiment : Lists the units.

    Examples
    --------
    >>> Unit("iris, run 1", lambda: {"accuracy": 0.95}).work()
    {'accuracy': 0.95}
    """

    key: str
    work: Callable[[], State]
    cost: float = 1.0


@dataclass(frozen=True)
class Line:
    """A published figure and our result.

    Parameters
    ----------
    table : str
        Table of the paper that has the figure.
    data : str
        Data set, by the paper's name.
    model : str
        Model, by the paper's name.
    metric : str
        Metric, with its unit.
    published : float or None
        The paper's figure.
    ours : float or None
        Our result, the mean over runs.
    deviation : float or None
        Standard deviation of our runs.
    runs : int
        Number of our runs.
    tolerance : float or None
        Largest difference that can be chance or rounding; None if it cannot be judged.
    honest : float or None
        Our result without the optimistic bias of the protocol, by nested cross-validation.
    note : str
        Remark on the figure.
    inferred : float or None
        Our result by a reading of the paper that its text does not give, but its figures suggest.
    inferred_tolerance : float or None
        Largest difference of it that can be chance; None if it cannot be judged.

    See Also
    --------
    Reproduction : Has the lines of an experiment.

    Examples
    --------
    >>> line = Line("2", "Iris", "HNB", "accuracy %", published=94.0, ours=94.3, tolerance=0.5)
    >>> line.within
    True
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
    inferred: float | None = None
    inferred_tolerance: float | None = None

    @property
    def difference(self) -> float | None:
        """Our result minus the published figure."""
        return None if self.published is None or self.ours is None else self.ours - self.published

    @property
    def within(self) -> bool | None:
        """Whether the difference is within the tolerance; None if it cannot be judged."""
        return _judged(self.difference, self.tolerance)

    @property
    def inferred_within(self) -> bool | None:
        """Whether the inferred result is within its tolerance; None if it cannot be judged."""
        if self.published is None or self.inferred is None:
            return None
        return _judged(self.inferred - self.published, self.inferred_tolerance)


def _judged(difference: float | None, tolerance: float | None) -> bool | None:
    if difference is None or tolerance is None:
        return None
    return abs(difference) <= tolerance + 1e-9


def mean_and_spread(runs: ArrayLike) -> tuple[float, float | None, int]:
    """Return mean, standard deviation and number of runs; one run has no deviation.

    Examples
    --------
    >>> mean_and_spread([1.0, 2.0, 3.0]), mean_and_spread([5.0])
    ((2.0, 1.0, 3), (5.0, None, 1))
    """
    values = np.asarray(runs)
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return float(values.mean()), spread, len(values)


def nearness(lines: Iterable[Line], model: str) -> str:
    """Say how many results of a model differ by chance or rounding only, and which do not."""
    chosen = [line for line in lines if line.model == model and line.within is not None]
    if not chosen:
        return f"{model}: a single run says nothing of chance"
    near = sum(line.within is True for line in chosen)
    far = [f"{line.data} {line.difference:+.2f}" for line in chosen if line.within is False]
    text = f"{model}: {near} of {len(chosen)} differ from the paper by no more than chance"
    return text + (f"; not {', '.join(far)}" if far else "")


@dataclass(frozen=True)
class Step:
    """Progress of an experiment, passed to ``watch`` after every unit.

    Parameters
    ----------
    done : int
        Number of finished units.
    total : int
        Number of units.
    key : str
        Key of the unit that was finished.

    See Also
    --------
    reproduce : Calls ``watch`` with this.

    Examples
    --------
    >>> Step(3, 10, "iris, run 3").done
    3
    """

    done: int
    total: int
    key: str


@dataclass(frozen=True)
class Reproduction:
    """Result of :func:`reproduce`.

    Parameters
    ----------
    paper : str
        Key of the experiment.
    title : str
        Title of the experiment.
    settings : dict
        Settings of the run.
    lines : tuple of Line
        Published figures and our results.
    remarks : tuple of str
        Conclusions, and differences from the paper.
    seconds : float
        Processor time of all units, also of those that were read from the store.
    resumed : int
        Number of units that were read from the store.
    curves : dict
        Curves of the paper's figures, drawn by :mod:`unnaive.papers.curves`.
    untimed : int
        Number of units that were read from the store without their time.

    See Also
    --------
    reproduce : Returns this.

    Examples
    --------
    >>> line = Line("2", "Iris", "HNB", "accuracy %", published=94.0, ours=94.3)
    >>> result = Reproduction("phnb", "PHNB", {}, (line,), (), seconds=1.0)
    >>> round(result.to_dict()["lines"][0]["difference"], 2)
    0.3
    """

    paper: str
    title: str
    settings: State
    lines: tuple[Line, ...]
    remarks: tuple[str, ...]
    seconds: float
    resumed: int = 0
    curves: State = field(default_factory=dict)
    untimed: int = 0

    def to_dict(self) -> State:
        """Return everything as plain values.

        Returns
        -------
        dict
            The fields, with the difference of every line.
        """
        return {
            **{name: value for name, value in asdict(self).items() if name != "lines"},
            "lines": [
                {
                    **asdict(line),
                    "difference": line.difference,
                    "within": line.within,
                    "inferred_within": line.inferred_within,
                }
                for line in self.lines
            ],
        }

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON, for the results page.

        Returns
        -------
        str
            The JSON text.
        """
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False) + "\n"


@dataclass(kw_only=True)
class Experiment(ABC):
    """A paper's experiment, by its protocol.

    Subclasses list the units of work and put the results beside the published figures.

    Parameters
    ----------
    quick : bool, default=False
        Fewer runs on smaller data sets; takes minutes instead of half an hour.
    honest : bool, default=False
        Also estimate without the optimistic bias of the protocol, by nested cross-validation.
    runs : int or None, default=None
        Number of runs with different seeds; None for the default of the experiment.
    seed : int, default=0
        Random seed.
    only : sequence of str, default=()
        Data sets, by the paper's names; empty for all.

    See Also
    --------
    reproduce : Runs an experiment.

    Examples
    --------
    >>> from unnaive.papers.eda import EDAExperiment
    >>> EDAExperiment(quick=True).n_runs
    1
    """

    quick: bool = False
    honest: bool = False
    runs: int | None = None
    seed: int = 0
    only: Sequence[str] = ()

    key: ClassVar[str]
    title: ClassVar[str]
    default_runs: ClassVar[tuple[int, int]] = (5, 1)  # full and quick
    names: ClassVar[Mapping[str, str]]  # the paper's name of a data set: ours

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return self.default_runs[self.quick] if self.runs is None else self.runs

    @property
    def chosen(self) -> list[str]:
        """Data sets to run, by the paper's names."""
        for name in self.only:
            if name not in self.names:
                known = ", ".join(self.names)
                raise UnnaiveError(f"the paper has no data set {name!r}; it has {known}")
        if self.only or not self.quick:
            return list(self.only or self.names)
        return [name for name in self.names if self.is_small(name)]

    def is_small(self, name: str) -> bool:  # noqa: ARG002 - subclasses use it
        """Return whether a quick run includes a data set.

        Parameters
        ----------
        name : str
            The paper's name of the data set.

        Returns
        -------
        bool
            True by default.
        """
        return True

    @property
    def settings(self) -> State:
        """Settings that the results of units depend on."""
        return {"paper": self.key, "seed": self.seed, "quick": self.quick}

    def data(self, name: str) -> Dataset:
        """Load a data set.

        Parameters
        ----------
        name : str
            The paper's name of the data set.

        Returns
        -------
        Dataset
            The data set.
        """
        from unnaive.datasets import load  # noqa: PLC0415 - costs time to import

        return load(self.names[name])

    @abstractmethod
    def units(self) -> list[Unit]:
        """Return the units of work.

        Returns
        -------
        list of Unit
            Their keys name the data set, the model and the run.
        """

    @abstractmethod
    def lines(self, results: Results) -> list[Line]:
        """Return the published figures with our results.

        Parameters
        ----------
        results : dict of str to dict
            Results of the units by key.

        Returns
        -------
        list of Line
            In the order of the paper's tables.
        """

    def curves(self, results: Results) -> State:  # noqa: ARG002 - subclasses use it
        """Return the curves of the paper's figures.

        Parameters
        ----------
        results : dict of str to dict
            Results of the units by key.

        Returns
        -------
        dict
            None by default.
        """
        return {}

    @abstractmethod
    def remarks(self, lines: Sequence[Line]) -> list[str]:
        """Return conclusions, and differences from the paper.

        Parameters
        ----------
        lines : sequence of Line
            Published figures with our results.

        Returns
        -------
        list of str
            One sentence or more in each.
        """


def reproduce(
    experiment: Experiment,
    *,
    store: str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    watch: Callable[[Step], None] | None = None,
) -> Reproduction:
    """Run a paper's experiment, or continue an interrupted run.

    Parameters
    ----------
    experiment : Experiment
        Experiment to run.
    store : path, default=None
        File to which finished units are saved; see :class:`~unnaive.evaluate.Runs`.
    n_jobs : int, default=None
        Number of units that run in parallel, as threads. Results do not depend on it.
    watch : callable, default=None
        Called with a :class:`Step` after every unit.

    Returns
    -------
    Reproduction
        Published figures with our results.

    See Also
    --------
    Experiment : Base of all experiments.

    Examples
    --------
    >>> class Small(Experiment):
    ...     key, title, names = "small", "A small experiment", {"Iris": "iris"}
    ...     def units(self):
    ...         return [Unit("Iris", lambda: {"accuracy": 0.95})]
    ...     def lines(self, results):
    ...         return [Line("1", "Iris", "nb", "accuracy", 0.94, results["Iris"]["accuracy"])]
    ...     def remarks(self, lines):
    ...         return []
    >>> round(reproduce(Small()).lines[0].difference, 2)
    0.01
    """
    units = sorted(experiment.units(), key=lambda unit: -unit.cost)
    runs = None if store is None else Runs(store, experiment.settings)
    results: dict[str, State] = {}
    if runs is not None:
        results = {unit.key: runs.get(unit.key) for unit in units if unit.key in runs}
    seconds = {key: None if runs is None else runs.seconds(key) for key in results}
    resumed = len(results)

    def work(unit: Unit) -> None:
        start = time.thread_time()
        result = unit.work()
        seconds[unit.key] = spent = time.thread_time() - start
        if runs is not None:
            runs.put(unit.key, result, spent)
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
        sum(spent for spent in seconds.values() if spent is not None),
        resumed,
        experiment.curves(results),
        sum(spent is None for spent in seconds.values()),
    )
