"""The loop that all estimation-of-distribution algorithms share."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np

from unnaive.exceptions import UnnaiveError
from unnaive.search.evaluations import Evaluations

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.search.evaluations import Judge
    from unnaive.search.spaces import Space

REPLACEMENTS = ("truncation", "elite-1", "generational")
RandomState = int | np.random.Generator | np.random.RandomState | None
Setting = dict[str, Any]  # parameters of an algorithm by name


class Model(Protocol):
    """A distribution of genomes."""

    def sample(self, n: int, random: np.random.Generator) -> AnyArray:
        """Draw genomes; shape (n, d)."""


@dataclass(frozen=True)
class Generation:
    """What a generation came to; number 0 is the initial population.

    Attributes
    ----------
    number : int
    best, mean : float
        Fitness of the best individual of the population, and the mean of all.
    evaluations, cache_hits : int
        Since the start: individuals asked for, and those of them that were known.
    seconds : float
        Since the start.
    """

    number: int
    best: float
    mean: float
    evaluations: int
    cache_hits: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Result:
    """What a search found.

    Attributes
    ----------
    best : ndarray of shape (d,)
        The best genome of all that were scored; of ties the lexicographically lowest.
    fitness : float
        Its fitness, the first column if there are several.
    history : tuple of Generation
    evaluations, cache_hits : int
        Individuals asked for, M + L·g after g generations, and those of them that were known.
    generations : int
    complete : bool
        False if time was over or the user interrupted.
    reason : str
        Why it ended: "bound", "one individual", "patience", "stall", "max_generations",
        "time_limit" or "interrupt".
    """

    best: AnyArray
    fitness: float
    history: tuple[Generation, ...]
    evaluations: int
    cache_hits: int
    generations: int
    complete: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class EstimationOfDistribution(ABC):
    r"""Base of the algorithms: select, learn a distribution of the selected, draw from it.

    .. math:: D_0 \to S_0 \to \rho_1 \to D_1 \to S_1 \to \rho_2 \to \dots

    Of a population D of M individuals the N best are selected; a model ρ of them is learnt, and L
    offspring are drawn from it. What follows D is up to ``replacement``.

    Parameters
    ----------
    population, selected, offspring : int, default=100, 50, 100
        M, N and L.
    replacement : {"truncation", "elite-1", "generational"}, default="truncation"
        The next population is the M best of D and its offspring; the best of D and the M − 1
        best offspring; the M best offspring. Of equals, the older.
    max_generations : int, default=100
    patience : int or None, default=10
        Stop after so many generations in a row without a better fitness; None: do not.
    stall : int or None, default=None
        Stop after so many generations in a row in which no offspring was good enough for the
        next population; None: do not.
    bound : float, default=None
        Stop as soon as the fitness is as large.
    time_limit : float, default=None
        Seconds; the generation that is under way is finished, then the best so far is returned.

    References
    ----------
    Larrañaga & Lozano, *Estimation of Distribution Algorithms*, Kluwer, 2002.
    """

    population: int = 100
    selected: int = 50
    offspring: int = 100
    replacement: str = "truncation"
    max_generations: int = 100
    patience: int | None = 10
    stall: int | None = None
    bound: float | None = None
    time_limit: float | None = None

    space_type: ClassVar[type[Space]]
    paper_setting: ClassVar[Setting] = {
        "population": 500,
        "selected": 500,
        "offspring": 1000,
        "replacement": "truncation",
        "patience": None,
        "stall": 1,
        "max_generations": 1000,
    }

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the setting of Robles et al. (2004), with some parameters changed.

        M = N = 500 and L = 1000, without pseudo-counts. All of the population is selected, so
        that the pressure comes from the replacement. The paper gives no rule of when to stop;
        ending with the first generation that adds nothing comes near its numbers of evaluations.
        """
        return cls(**{**cls.paper_setting, **changes})

    @abstractmethod
    def model_of(self, selected: AnyArray, space: Any, previous: Any = None) -> Model:
        """Learn the distribution of the selected individuals, (n, d).

        ``previous`` is the model of the generation before, where there is one.
        """

    def maximise(
        self,
        space: Space,
        fitness: Judge,
        *,
        random_state: RandomState = None,
        seeds: ArrayLike | None = None,
        key: Judge | None = None,
        watch: Callable[[Generation], None] | None = None,
    ) -> Result:
        """Search a space for the genome of largest fitness.

        Parameters
        ----------
        space : Categories or Box
        fitness : callable
            From genomes (m, d) to their fitness (m,), or (m, t): the further columns break ties.
            It is called once a generation, with those that are new. NaN is worse than any number.
        random_state : int, Generator, RandomState or None, default=None
        seeds : array of shape (s, d), default=None
            Genomes that replace the first of the uniform initial population.
        key : callable, default=None
            From genomes to whole numbers (m, anything), equal where the fitness must be; such
            individuals are scored once.
        watch : callable, default=None
            Told of every :class:`Generation` as it is over.

        Returns
        -------
        Result
            Upon an interrupt, too, if the initial population had been scored.
        """
        self.check(space)
        random = generator_of(random_state)
        genomes = space.uniform(self.population, random)
        if seeds is not None:
            given = space.checked(seeds, "seeds")
            if len(given) > self.population:
                raise UnnaiveError(
                    f"seeds has {len(given)} genomes, more than population={self.population}; "
                    "raise population or give fewer"
                )
            genomes[: len(given)] = given
        run = _Run(self, space, Evaluations(space, fitness, key), random)
        run.begin(genomes)
        return run.result(run.until_done(watch))

    def check(self, space: Space) -> None:
        """Raise an error that names a parameter, its value and the cure, if one is wrong."""
        if not isinstance(space, self.space_type):
            raise UnnaiveError(
                f"{type(self).__name__} searches {self.space_type.__name__}, not "
                f"{type(space).__name__}; see unnaive.search for the algorithms of a space"
            )
        for name in ("population", "selected", "offspring"):
            require_whole(name, getattr(self, name), 1)
        require_whole("max_generations", self.max_generations, 0)
        for name in ("patience", "stall"):
            if getattr(self, name) is not None:
                require_whole(name, getattr(self, name), 1)
        if self.replacement not in REPLACEMENTS:
            raise UnnaiveError(
                f"replacement={self.replacement!r}; it must be one of {', '.join(REPLACEMENTS)}"
            )
        if self.selected > self.population:
            raise UnnaiveError(
                f"selected={self.selected} is more than population={self.population}; lower "
                "selected or raise population"
            )
        needed = {"elite-1": self.population - 1, "generational": self.population}
        if self.offspring < needed.get(self.replacement, 0):
            raise UnnaiveError(
                f"offspring={self.offspring} cannot replace population={self.population}; raise "
                "offspring, or set replacement='truncation'"
            )
        if self.bound is not None:
            require_number("bound", self.bound, -math.inf)
        if self.time_limit is not None:
            require_number("time_limit", self.time_limit, 0.0)


def require_algorithm(name: str, given: object, space_type: type[Space]) -> None:
    """Raise an error if a parameter is no algorithm for a kind of space."""
    if isinstance(given, EstimationOfDistribution) and given.space_type is space_type:
        return
    known = "UMDA, MIMIC or EBNA" if space_type.__name__ == "Categories" else "UMDAc, MIMICc, …"
    raise UnnaiveError(f"{name}={given!r}; it must be a {known} of unnaive.search, as in UMDA()")


@dataclass(eq=False)
class _Run:
    """A population on its way."""

    algorithm: EstimationOfDistribution
    space: Space
    evaluations: Evaluations
    random: np.random.Generator
    history: list[Generation] = field(default_factory=list)
    idle: int = 0
    stalled: int = 0
    model: Model | None = None

    def begin(self, genomes: AnyArray) -> None:
        """Score the initial population."""
        self.start = time.monotonic()
        scores = self.evaluations.scores(genomes)
        first = leader(genomes, scores)
        self.best = genomes[first], scores[first]
        order = ranking(scores)
        self._record(genomes[order], scores[order])

    def until_done(self, watch: Callable[[Generation], None] | None) -> str:
        """Make generations until there is a reason to stop, and return it."""
        try:
            if watch is not None:
                watch(self.history[-1])
            while not (reason := self._reason()):
                self._step()
                if watch is not None:
                    watch(self.history[-1])
        except KeyboardInterrupt:
            return "interrupt"
        return reason

    def result(self, reason: str) -> Result:
        """Sum up."""
        genome, scores = self.best
        last = self.history[-1]
        return Result(
            best=genome.copy(),
            fitness=float(scores[0]),
            history=tuple(self.history),
            evaluations=last.evaluations,
            cache_hits=last.cache_hits,
            generations=last.number,
            complete=reason not in {"time_limit", "interrupt"},
            reason=reason,
        )

    def _step(self) -> None:
        """Make one generation; an interrupt leaves the last one as it was."""
        algorithm = self.algorithm
        selected = self.population[0][: algorithm.selected]
        model = algorithm.model_of(selected, self.space, self.model)
        genomes = model.sample(algorithm.offspring, self.random)
        scores = self.evaluations.scores(genomes)
        candidates = np.vstack([self.best[0], genomes]), np.vstack([self.best[1], scores])
        first = leader(*candidates)
        better = candidates[1][first, 0] > self.best[1][0]
        self.idle = 0 if better else self.idle + 1
        self.best = candidates[0][first], candidates[1][first]
        self.model = model
        before = self.population[0]
        self._record(*self._replaced(genomes, scores))
        self.stalled = self.stalled + 1 if np.array_equal(before, self.population[0]) else 0

    def _replaced(self, genomes: AnyArray, scores: FloatArray) -> tuple[AnyArray, FloatArray]:
        """Make the next population, best first, of equals the older."""
        size, kind = self.algorithm.population, self.algorithm.replacement
        kept = {"truncation": size, "elite-1": 1, "generational": 0}[kind]
        if kind == "elite-1":
            best_offspring = ranking(scores)[: size - 1]
            genomes, scores = genomes[best_offspring], scores[best_offspring]
        genomes = np.concatenate([self.population[0][:kept], genomes])
        scores = np.concatenate([self.population[1][:kept], scores])
        order = ranking(scores)[:size]
        return genomes[order], scores[order]

    def _record(self, genomes: AnyArray, scores: FloatArray) -> None:
        self.population = genomes, scores
        with np.errstate(invalid="ignore"):  # the mean of ∞ and −∞
            mean = float(scores[:, 0].mean())
        asked, hits = self.evaluations.asked, self.evaluations.hits
        seconds = time.monotonic() - self.start
        number = len(self.history)
        self.history.append(Generation(number, float(scores[0, 0]), mean, asked, hits, seconds))

    def _reason(self) -> str:
        """Tell why to stop; empty: go on."""
        algorithm, genomes, last = self.algorithm, self.population[0], self.history[-1]
        reasons = {
            "bound": algorithm.bound is not None and self.best[1][0] >= algorithm.bound,
            "one individual": (genomes == genomes[0]).all(),
            "patience": algorithm.patience is not None and self.idle >= algorithm.patience,
            "stall": algorithm.stall is not None and self.stalled >= algorithm.stall,
            "max_generations": last.number >= algorithm.max_generations,
            "time_limit": algorithm.time_limit is not None and last.seconds >= algorithm.time_limit,
        }
        return next((name for name, holds in reasons.items() if holds), "")


def ranking(scores: FloatArray) -> IntArray:
    """Order of individuals, best first, by the first column, then the next; of equals, as given.

    Examples
    --------
    >>> import numpy as np
    >>> ranking(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 5.0]])).tolist()
    [1, 2, 0]
    """
    return np.lexsort(-scores.T[::-1])


def leader(genomes: AnyArray, scores: FloatArray) -> int:
    """Row of largest scores, of equals the one of the lexicographically lowest genome.

    Examples
    --------
    >>> import numpy as np
    >>> leader(np.array([[0, 0], [2, 0], [1, 7]]), np.array([[0.0], [1.0], [1.0]]))
    2
    """
    rows = np.arange(len(genomes))
    for column in (*-scores.T, *genomes.T):
        rows = rows[column[rows] == column[rows].min()]
        if len(rows) == 1:
            break
    return int(rows[0])


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Make a generator of whatever scikit-learn takes as a random state."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise UnnaiveError(
            f"random_state={random_state!r}; it must be a whole number of at least 0, a "
            "numpy Generator or RandomState, or None"
        ) from None


def require_whole(name: str, given: object, least: int) -> None:
    """Raise an error unless a parameter is a whole number that is large enough."""
    if not isinstance(given, Integral) or isinstance(given, bool) or given < least:
        raise UnnaiveError(f"{name}={given!r}; it must be a whole number of at least {least}")


def require_number(name: str, given: object, least: float, most: float = math.inf) -> None:
    """Raise an error unless a parameter is a number between two."""
    if not isinstance(given, Real) or isinstance(given, bool) or not least <= float(given) <= most:
        raise UnnaiveError(f"{name}={given!r}; it must be a number of {least:g} to {most:g}")
