"""The loop that all estimation-of-distribution algorithms share."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from unnaive._docstrings import Inherits
from unnaive.exceptions import UnnaiveError
from unnaive.parameters import check_parameters, is_number, number, one_of, parameter, whole
from unnaive.search.evaluations import Evaluations

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from unnaive._typing import AnyArray, FloatArray, IntArray
    from unnaive.search.evaluations import Judge
    from unnaive.search.spaces import Model, Space

RandomState = int | np.random.Generator | np.random.RandomState | None
Setting = dict[str, Any]  # parameters of an algorithm by name


@dataclass(frozen=True)
class Generation:
    """Summary of one generation of a search; generation 0 is the initial population.

    Parameters
    ----------
    number : int
        Number of the generation.
    best : float
        Fitness of the best individual of the population.
    mean : float
        Mean fitness of the population.
    evaluations : int
        Individuals whose fitness was requested since the start of the search.
    cache_hits : int
        How many of these had been scored before, so that the fitness was not called again.
    seconds : float
        Time since the start of the search.

    See Also
    --------
    Result : Holds all generations of a search in its ``history``.

    Examples
    --------
    >>> from unnaive.search import UMDA, Categories
    >>> ones = lambda genomes: genomes.sum(axis=1)
    >>> result = UMDA(max_generations=1).maximise(Categories([2] * 4), ones, random_state=0)
    >>> [(generation.number, generation.evaluations) for generation in result.history]
    [(0, 100), (1, 200)]
    """

    number: int
    best: float
    mean: float
    evaluations: int
    cache_hits: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Result:
    """Result of a search.

    Parameters
    ----------
    best : ndarray of shape (d,)
        Best genome of all that were scored. Ties are won by the lexicographically lowest one.
    fitness : float
        Fitness of the best genome; its first column if the fitness has several.
    history : tuple of Generation
        All generations, the initial population first.
    evaluations : int
        Individuals whose fitness was requested: M + L·g after g generations.
    cache_hits : int
        How many of these had been scored before.
    generations : int
        Number of generations g.
    complete : bool
        Whether the search ended by itself; False if the time limit was reached or the user
        interrupted it.
    reason : str
        Why the search ended: "bound", "one individual", "patience", "stall",
        "max_generations", "time_limit" or "interrupt".

    See Also
    --------
    EstimationOfDistribution.maximise : Runs a search and returns its result.

    Examples
    --------
    >>> from unnaive.search import UMDA, Categories
    >>> ones = lambda genomes: genomes.sum(axis=1)
    >>> result = UMDA(bound=4).maximise(Categories([2] * 4), ones, random_state=0)
    >>> result.best.tolist(), result.fitness, result.reason
    ([1, 1, 1, 1], 4.0, 'bound')
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
class EstimationOfDistribution(Inherits, ABC):
    r"""Base class of the algorithms: select, learn a distribution of the selected, sample it.

    .. math:: D_0 \to S_0 \to \rho_1 \to D_1 \to S_1 \to \rho_2 \to \dots

    From a population D of M individuals the N best, S, are selected. A model ρ of their
    distribution is learned, and L offspring are drawn from it. ``replacement`` decides which
    individuals form the next population. A subclass names its ``space_type`` and learns ρ in
    ``_learn``.

    Parameters
    ----------
    population : int, default=100
        Number M of individuals in the population.
    selected : int, default=50
        Number N of best individuals from which the distribution is learned.
    offspring : int, default=100
        Number L of individuals drawn from the distribution in each generation.
    replacement : {"truncation", "elite-1", "generational"}, default="truncation"
        How the next population is formed. "truncation": the M best of the population and its
        offspring. "elite-1": the best individual of the population and the M − 1 best offspring.
        "generational": the M best offspring. Ties are won by the older individual.
    max_generations : int, default=100
        Maximum number of generations.
    patience : int or None, default=10
        Stop after this many generations in a row without a better fitness. None: no such stop.
    stall : int or None, default=None
        Stop after this many generations in a row in which no offspring entered the next
        population. None: no such stop.
    bound : float or None, default=None
        Stop as soon as the fitness reaches this value. None: no such stop.
    time_limit : float or None, default=None
        Seconds after which the search stops. The current generation is finished first, and the
        best genome so far is returned. None: no limit.

    See Also
    --------
    UMDA : Independent genes.
    MIMIC : A chain of genes.
    EBNA : A Bayesian network of genes.

    References
    ----------
    Larrañaga & Lozano, *Estimation of Distribution Algorithms*, Kluwer, 2002.

    Examples
    --------
    >>> from unnaive.search import UMDA, EstimationOfDistribution
    >>> isinstance(UMDA(), EstimationOfDistribution), UMDA().population
    (True, 100)
    """

    population: int = whole(100, 1)
    selected: int = whole(50, 1)
    offspring: int = whole(100, 1)
    replacement: str = one_of("truncation", "elite-1", "generational")
    max_generations: int = whole(100)
    patience: int | None = whole(10, 1, also=(None,))
    stall: int | None = whole(None, 1, also=(None,))
    bound: float | None = parameter(
        None, "a number", also=(None,), test=lambda value: is_number(value, infinite=True)
    )
    time_limit: float | None = number(None, also=(None,), infinite=True)

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
        """Make the algorithm with the settings of Robles et al. (2003).

        These are M = N = 500 and L = 1000, without pseudo-counts. The whole population is
        selected, so the selection pressure comes from the replacement. The paper gives no
        stopping rule; stopping at the first generation that adds nothing comes close to its
        numbers of evaluations.

        Parameters
        ----------
        **changes : Any
            Parameters that differ from the paper's.

        Returns
        -------
        EstimationOfDistribution
            An algorithm of this class.
        """
        return cls(**{**cls.paper_setting, **changes})

    def model_of(self, selected: AnyArray, space: Any, previous: Any = None) -> Any:
        """Learn the distribution of the selected individuals.

        Parameters
        ----------
        selected : ndarray of shape (n, d)
            The selected genomes.
        space : Categories or Box
            The space that they are from.
        previous : DiscreteNetwork or GaussianNetwork, default=None
            Model of the previous generation, from which EBNA and EGNA continue.

        Returns
        -------
        DiscreteNetwork or GaussianNetwork
            Model that new genomes can be drawn from.
        """
        return self._learn(selected, space, previous)

    @abstractmethod
    def _learn(self, selected: AnyArray, space: Any, previous: Any) -> Model:
        """Learn the model; see :meth:`model_of`."""

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
            Space to search.
        fitness : callable
            Maps genomes (m, d) to their fitness (m,), or (m, t), where further columns break
            ties. It is called once per generation, with the genomes that are new. NaN counts as
            worse than any number.
        random_state : int, Generator, RandomState or None, default=None
            Random seed or generator.
        seeds : array of shape (s, d), default=None
            Genomes that replace the first ones of the uniform initial population.
        key : callable, default=None
            Maps genomes to whole numbers (m, anything) that are equal if the fitness must be
            equal; such individuals are scored once.
        watch : callable, default=None
            Called with every :class:`Generation` when it is finished.

        Returns
        -------
        Result
            Best genome and history; also after an interrupt, if the initial population had
            been scored.
        """
        self.check(space)
        random = generator_of(random_state)
        genomes = space.uniform(self.population, random)
        if seeds is not None:
            checked = space.checked(seeds, "seeds")
            if len(checked) > self.population:
                raise UnnaiveError(
                    f"seeds has {len(checked)} genomes, more than population={self.population}; "
                    "raise population or give fewer"
                )
            genomes[: len(checked)] = checked
        run = _Run(self, space, Evaluations(space, fitness, key), random)
        run.begin(genomes)
        return run.result(run.until_done(watch))

    def check(self, space: Space) -> None:
        """Raise an error that names the parameter, its value and the cure, if one is wrong.

        Parameters
        ----------
        space : Categories or Box
            Space that is going to be searched.
        """
        if not isinstance(space, self.space_type):
            raise UnnaiveError(
                f"{type(self).__name__} searches {self.space_type.__name__}, not "
                f"{type(space).__name__}; see unnaive.search for the algorithms of a space"
            )
        try:
            check_parameters(self)
        except ValueError as error:
            raise UnnaiveError(str(error)) from None
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


def require_algorithm(name: str, given: object, space_type: type[Space]) -> None:
    """Raise an error unless a parameter is an algorithm for a kind of space.

    Parameters
    ----------
    name : str
        Name of the parameter, for the message.
    given : object
        Its value.
    space_type : type
        :class:`Categories` or :class:`Box`.

    See Also
    --------
    EstimationOfDistribution : Base class of the algorithms.

    Examples
    --------
    >>> from unnaive.search import UMDA, Box, require_algorithm
    >>> require_algorithm("search", UMDA(), Box)
    Traceback (most recent call last):
    unnaive.exceptions.UnnaiveError: search=UMDA(...); it must be a UMDAc, ...
    """
    kind = given.space_type if isinstance(given, EstimationOfDistribution) else None
    if kind is None or not issubclass(space_type, kind):
        known = {"Categories": "UMDA, MIMIC or EBNA"}.get(space_type.__name__, "UMDAc, MIMICc, …")
        raise UnnaiveError(
            f"{name}={given!r}; it must be a {known} of unnaive.search, as in UMDA()"
        )


@dataclass(eq=False)
class _Run:
    """State of a search: the population, the best genome, and counters of the stopping rules."""

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
        """Run generations until there is a reason to stop, and return the reason."""
        tell = watch or (lambda _: None)
        try:
            tell(self.history[-1])
            while not (reason := self._reason()):
                self._step()
                tell(self.history[-1])
        except KeyboardInterrupt:
            return "interrupt"
        return reason

    def result(self, reason: str) -> Result:
        """Summarize the search."""
        last, history = self.history[-1], tuple(self.history)
        best, fitness = self.best[0].copy(), float(self.best[1][0])
        counters = last.evaluations, last.cache_hits, last.number
        complete = reason not in {"time_limit", "interrupt"}
        return Result(best, fitness, history, *counters, complete=complete, reason=reason)

    def _step(self) -> None:
        """Run one generation; an interrupt leaves the previous one unchanged."""
        algorithm = self.algorithm
        before = self.population[0]
        model = algorithm.model_of(before[: algorithm.selected], self.space, self.model)
        genomes = model.sample(algorithm.offspring, self.random)
        scores = self.evaluations.scores(genomes)
        candidates = np.vstack([self.best[0], genomes]), np.vstack([self.best[1], scores])
        first = leader(*candidates)
        self.idle = 0 if candidates[1][first, 0] > self.best[1][0] else self.idle + 1
        self.best = candidates[0][first], candidates[1][first]
        self.model = model
        self._record(*self._replaced(genomes, scores))
        self.stalled = self.stalled + 1 if np.array_equal(before, self.population[0]) else 0

    def _replaced(self, genomes: AnyArray, scores: FloatArray) -> tuple[AnyArray, FloatArray]:
        """Form the next population, best first; ties are won by the older individual."""
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
        """Return the first stopping rule that holds, or an empty string."""
        algorithm, genomes, last = self.algorithm, self.population[0], self.history[-1]
        limits = {
            "bound": (self.best[1][0], algorithm.bound),
            "one individual": (bool((genomes == genomes[0]).all()), True),
            "patience": (self.idle, algorithm.patience),
            "stall": (self.stalled, algorithm.stall),
            "max_generations": (last.number, algorithm.max_generations),
            "time_limit": (last.seconds, algorithm.time_limit),
        }
        reached = (
            name for name, (now, limit) in limits.items() if limit is not None and now >= limit
        )
        return next(reached, "")


def ranking(scores: FloatArray) -> IntArray:
    """Rank individuals, best first, by the first column of scores, then by the next ones.

    Individuals with equal scores keep their order.

    Examples
    --------
    >>> import numpy as np
    >>> ranking(np.array([[1.0, 0.0], [2.0, 0.0], [1.0, 5.0]])).tolist()
    [1, 2, 0]
    """
    return np.lexsort(-scores.T[::-1])


def leader(genomes: AnyArray, scores: FloatArray) -> int:
    """Find the row of largest scores; ties are won by the lexicographically lowest genome.

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
    """Make a generator from any random state that scikit-learn accepts."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise UnnaiveError(
            f"random_state={random_state!r}; it must be a whole number of at least 0, a "
            "numpy Generator or RandomState, or None"
        ) from None
