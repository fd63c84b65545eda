"""Score-based search for networks: hill climbing, tabu search, K2, simulated annealing."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import field
from functools import cached_property, reduce
from graphlib import TopologicalSorter
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.climbing import climb
from unnaive._dataclasses import dataclass
from unnaive.information.scores import FamilyScores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unnaive._typing import BoolArray, FloatArray
    from unnaive.information.gaussian_scores import GaussianScores

    Watch = Callable[[int, float], None]

IMPROVES = 1e-9  # minimum gain of a move
ADD, DELETE, REVERSE = 0, 1, 2

Move = tuple[int, int, int]  # what, child, parent
Parents = list[set[int]]


@dataclass(frozen=True)
class Found:
    """Result of a search: parents of every variable, their score, and whether it was finished."""

    parents: tuple[tuple[int, ...], ...]
    score: float
    moves: int
    complete: bool


@dataclass(eq=False)
class Climber:
    """A network that is changed move by move, with the gains of all possible moves.

    After a move only the gains of variables whose parents changed are computed again.

    Attributes
    ----------
    scores : FamilyScores or GaussianScores
        Scores of a variable given its parents.
    max_parents : int
        Maximum number of parents of a variable.
    required, forbidden : ndarray of shape (d, d)
        Arcs [child, parent] that must stay, or must not be added.
    """

    scores: FamilyScores | GaussianScores
    max_parents: int
    required: BoolArray
    forbidden: BoolArray
    parents: Parents = field(default_factory=list)

    def __post_init__(self) -> None:
        d = len(self.scores.sizes)
        self.parents = [set(above) for above in self.parents] or [set() for _ in range(d)]
        self.arcs = np.zeros((d, d), dtype=bool)  # [child, parent]
        for child, above in enumerate(self.parents):
            self.arcs[child, list(above)] = True

    @cached_property
    def ancestors(self) -> BoolArray:
        """Whether variable j is an ancestor of variable i; shape (d, d)."""
        return _ancestors(self.arcs)

    @cached_property
    def gains(self) -> FloatArray:
        """Gains of adding and deleting [child, parent], NaN if not known yet; shape (2, d, d)."""
        d = len(self.parents)
        if not any(self.parents):
            self.scores.score_pairs()
        gains = np.full((2, d, d), -np.inf)
        self._refresh(range(d), gains)
        return gains

    @property
    def score(self) -> float:
        """Score of the present network."""
        return self.scores.total([tuple(sorted(above)) for above in self.parents])

    def _refresh(self, nodes: Iterable[int], gains: FloatArray) -> None:
        """Compute the gains of allowed changes of some variables' parents again."""
        for node in nodes:
            above = tuple(sorted(self.parents[node]))
            now = self.scores.local(node, above)
            gains[:, node] = -np.inf
            for parent in above:
                if not self.required[node, parent]:
                    rest = tuple(other for other in above if other != parent)
                    gains[DELETE, node, parent] = self.scores.local(node, rest) - now
            if len(above) < self.max_parents:
                free = ~self.forbidden[node]
                free[[node, *above]] = False
                gains[ADD, node, free] = np.nan  # not known yet
        self._learn(gains)

    def _learn(self, gains: FloatArray) -> None:
        """Score the additions that would not close a cycle now, and those that reversals need."""
        wanted = np.isnan(gains[ADD]) & (~self.ancestors.T | self.arcs.T)
        for node in np.flatnonzero(wanted.any(axis=1)).tolist():
            others = np.flatnonzero(wanted[node])
            above = tuple(sorted(self.parents[node]))
            added = self.scores.additions(node, above, others)
            gains[ADD, node, others] = added - self.scores.local(node, above)

    def apply(self, move: Move) -> None:
        """Make a move."""
        what, child, parent = move
        gains = self.gains
        if what == ADD:
            self.parents[child].add(parent)
            self.arcs[child, parent] = True
            above = self.ancestors[parent].copy()
            above[parent] = True
            self.ancestors[self.ancestors[:, child]] |= above
            self.ancestors[child] |= above
        else:
            self.parents[child].remove(parent)
            self.parents[parent] |= {child} if what == REVERSE else set()
            self.arcs[child, parent], self.arcs[parent, child] = False, what == REVERSE
            self.ancestors = _ancestors(self.arcs)
        self._refresh([child, parent] if what == REVERSE else [child], gains)

    def become(self, arcs: BoolArray) -> None:
        """Change to another network, from arcs [child, parent]."""
        self.arcs = arcs.copy()
        self.parents = [set(above) for above in _frozen(arcs)]
        for known in ("ancestors", "gains"):
            self.__dict__.pop(known, None)

    def all_gains(self) -> FloatArray:
        """Gains of adding, deleting and reversing [child, parent], −inf if forbidden; (3, d, d).

        Reversing [child, parent] makes the child a parent of the parent.
        """
        gains = np.full((3, *self.ancestors.shape), -np.inf)
        # Gains that are not known yet, NaN, belong to arcs that would close a cycle.
        np.copyto(gains[ADD], self.gains[ADD], where=~self.ancestors.T & ~np.isnan(self.gains[ADD]))
        gains[DELETE] = self.gains[DELETE]
        children, parents = np.nonzero(self.arcs)
        # Another path from parent to child would close a cycle with the reversed arc.
        detour = (self.arcs[children] & self.ancestors[:, parents].T).any(axis=1)
        children, parents = children[~detour], parents[~detour]
        gains[REVERSE, children, parents] = (
            self.gains[DELETE, children, parents] + self.gains[ADD, parents, children]
        )
        return gains

    def random_move(self, random: np.random.Generator) -> tuple[Move, float] | None:
        """Draw a move that makes no cycle, and return it with its gain."""
        gains = self.all_gains()
        moves = np.argwhere(np.isfinite(gains))
        if not len(moves):
            return None
        what, child, parent = moves[int(random.integers(len(moves)))].tolist()
        return (what, child, parent), float(gains[what, child, parent])


def _ancestors(arcs: BoolArray) -> BoolArray:
    """Whether variable j is an ancestor of variable i, from arcs [child, parent]; shape (d, d)."""
    above = arcs.copy()
    parents = {node: np.flatnonzero(row).tolist() for node, row in enumerate(arcs)}
    for node in TopologicalSorter(parents).static_order():
        above[node] |= above[parents[node]].any(axis=0)
    return above


def best_move(gains: FloatArray, tabu: Iterable[Move] = ()) -> tuple[Move | None, float]:
    """Find the move of largest gain; on ties add, delete, reverse, then the first parent, child.

    Adding i → j and adding j → i often have exactly the same gain. The rule decides that arcs
    then point from earlier to later columns.
    """
    for move in tabu:
        gains[_undoing(move)] = -np.inf
    largest = float(gains.max(initial=-np.inf))
    if not math.isfinite(largest):
        return None, -math.inf
    tied = gains.transpose(0, 2, 1) >= largest - IMPROVES
    what, parent, child = (int(index) for index in np.argwhere(tied)[0])
    return (what, child, parent), largest


def _undoing(move: Move) -> Move:
    """Return the move that undoes this one."""
    what, child, parent = move
    undo = {ADD: DELETE, DELETE: ADD, REVERSE: REVERSE}[what]
    return (undo, parent, child) if what == REVERSE else (undo, child, parent)


def hill_climbing(
    climber: Climber,
    *,
    tabu_length: int = 0,
    tabu_rounds: int = 0,
    limit: float = math.inf,
    watch: Watch | None = None,
) -> Found:
    """Make the best move while it improves; tabu search also makes moves that do not.

    Parameters
    ----------
    climber : Climber
        Network to start from; it is changed.
    tabu_length : int, default=0
        How many of the last moves must not be undone.
    tabu_rounds : int, default=0
        How many moves in a row may fail to improve on the best network so far.
    limit : float, default=inf
        Time limit in seconds. The best network so far is returned when time is over, and also
        after an interrupt.
    watch : callable, default=None
        Called with the number of moves and the score after each move.

    Returns
    -------
    Found
        The best network.

    References
    ----------
    Glover, "Tabu search", ORSA Journal on Computing 1, 1989.
    """
    scores = climber.scores
    if isinstance(scores, FamilyScores) and scores.weights is None:
        return _compiled(climber, scores, (tabu_length, tabu_rounds), limit, watch)
    return _step_by_step(climber, (tabu_length, tabu_rounds), limit, watch)


def _compiled(
    climber: Climber,
    scores: FamilyScores,
    tabu: tuple[int, int],
    limit: float,
    watch: Watch | None,
) -> Found:
    """Climb with scores of plain rows, which the core counts and searches at once."""
    d = len(climber.parents)
    networks, local = np.empty((2, d, d), dtype=bool), np.empty(d)
    networks[0] = climber.arcs
    bounds = np.stack([climber.required, climber.forbidden])
    plan = np.array([climber.max_parents, *tabu])
    moves, complete = climb(
        *(scores.codes, scores.sizes.astype(np.int64), scores.logs, scores.rule, plan),
        *(limit, watch, bounds, networks, local),
    )
    climber.become(networks[0])
    return Found(_frozen(networks[1]), reduce(add, local.tolist(), 0.0), moves, complete)


def _step_by_step(
    climber: Climber, tabu: tuple[int, int], limit: float, watch: Watch | None
) -> Found:
    """Climb with scores of any kind."""
    tabu_length, tabu_rounds = tabu
    end = time.monotonic() + limit
    score = climber.score
    best, best_score = climber.arcs.copy(), score
    last: deque[Move] = deque(maxlen=tabu_length)
    moves = idle = 0
    try:
        while complete := time.monotonic() <= end:
            gains = climber.all_gains()
            move, gain = best_move(gains)
            if score + gain <= best_score + IMPROVES:  # else a tabu move is allowed, too
                move, gain = best_move(gains, last)
            if move is None or (gain <= IMPROVES and idle >= tabu_rounds):
                break
            climber.apply(move)
            last.append(move)
            moves, score = moves + 1, score + gain
            idle = 0 if score > best_score + IMPROVES else idle + 1
            if not idle:
                best, best_score = climber.arcs.copy(), score
            if watch is not None:
                watch(moves, score)
    except KeyboardInterrupt:
        complete = False
    parents = _frozen(best)
    return Found(parents, climber.scores.total(parents), moves, complete)


def _frozen(arcs: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Return the parents of every variable as tuples."""
    return tuple(tuple(np.flatnonzero(above).tolist()) for above in arcs)


def perturb(climber: Climber, n_moves: int, random: np.random.Generator) -> None:
    """Make random moves, for a restart from another network."""
    for _ in range(n_moves):
        drawn = climber.random_move(random)
        if drawn is not None:
            climber.apply(drawn[0])


def anneal(
    climber: Climber,
    random: np.random.Generator,
    *,
    rounds: int = 2000,
    warm: float = 10.0,
    cold: float = 0.1,
    limit: float = math.inf,
) -> Found:
    """Search by simulated annealing: random moves, worse ones less likely as it gets colder.

    A move of gain g < 0 is made with probability exp(g / T). The temperature T falls
    geometrically from ``warm`` to ``cold``. The search ends with hill climbing from the best
    network.

    References
    ----------
    Kirkpatrick, Gelatt & Vecchi, "Optimization by simulated annealing", Science 220, 1983.
    """
    end = time.monotonic() + limit
    score = climber.score
    best, best_score, made = climber.arcs.copy(), score, 0
    try:
        for step in range(rounds):
            if time.monotonic() > end:
                break
            temperature = warm * (cold / warm) ** (step / max(rounds - 1, 1))
            drawn = climber.random_move(random)
            if drawn is None:
                break
            move, gain = drawn
            if gain >= 0 or random.random() < math.exp(gain / temperature):
                climber.apply(move)
                score, made = score + gain, made + 1
                if score > best_score + IMPROVES:
                    best, best_score = climber.arcs.copy(), score
    except KeyboardInterrupt:
        end = time.monotonic()
    start = [set(above) for above in _frozen(best)]
    again = Climber(climber.scores, climber.max_parents, climber.required, climber.forbidden, start)
    last = hill_climbing(again, limit=max(end - time.monotonic(), 0.0))
    return Found(last.parents, last.score, made + last.moves, last.complete)


def k2_search(
    scores: FamilyScores,
    order: list[int],
    max_parents: int,
    required: BoolArray,
    forbidden: BoolArray,
) -> Found:
    """K2: add to each variable, one by one, the earlier variable that improves its score most.

    References
    ----------
    Cooper & Herskovits, "A Bayesian method for the induction of probabilistic networks from
    data", Machine Learning 9, 1992.
    """
    arcs, moves = required.copy(), 0
    for place, node in enumerate(order):
        earlier = np.zeros(len(arcs), dtype=bool)
        earlier[order[:place]] = True
        score = scores.local(node, tuple(np.flatnonzero(arcs[node]).tolist()))
        while arcs[node].sum() < max_parents:
            others = np.flatnonzero(earlier & ~arcs[node] & ~forbidden[node])
            if not len(others):
                break
            offered = scores.additions(node, tuple(np.flatnonzero(arcs[node]).tolist()), others)
            best = int(np.argmax(offered >= offered.max() - IMPROVES))
            if offered[best] <= score + IMPROVES:
                break
            arcs[node, others[best]] = True
            score, moves = float(offered[best]), moves + 1
    parents = _frozen(arcs)
    return Found(parents, scores.total(parents), moves, True)
