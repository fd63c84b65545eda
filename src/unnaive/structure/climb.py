"""Greedy search for networks: hill climbing, tabu, K2, simulated annealing."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unnaive._typing import BoolArray, FloatArray
    from unnaive.information.gaussian_scores import GaussianScores
    from unnaive.information.scores import FamilyScores

IMPROVES = 1e-9  # the least gain of a move
ADD, DELETE, REVERSE = 0, 1, 2

Move = tuple[int, int, int]  # what, child, parent
Parents = list[set[int]]


@dataclass(frozen=True)
class Found:
    """What a search found: parents of every variable, their score, and whether it was done."""

    parents: tuple[tuple[int, ...], ...]
    score: float
    moves: int
    complete: bool


@dataclass(eq=False)
class Climber:
    """A network that is changed move by move, with the gain of every possible move at hand.

    After a move only the gains of the variables whose parents changed are computed anew.

    Attributes
    ----------
    scores : FamilyScores or GaussianScores
        Of a variable given its parents.
    max_parents : int
        Most parents of a variable.
    required, forbidden : ndarray of shape (d, d)
        Arcs [child, parent] that stay, or may not be.
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
        self.ancestors = _ancestors(self.parents, d)
        self.gains = np.full((2, d, d), -np.inf)  # of adding and of deleting [child, parent]
        if not any(self.parents):
            self.scores.score_pairs()
        self.refresh(range(d))

    @property
    def score(self) -> float:
        """Score of the network as it is."""
        return self.scores.total([tuple(sorted(above)) for above in self.parents])

    def refresh(self, nodes: Iterable[int]) -> None:
        """Compute the gains of changes of some variables' parents anew, as far as they may be."""
        for node in nodes:
            above = tuple(sorted(self.parents[node]))
            now = self.scores.local(node, above)
            self.gains[:, node] = -np.inf
            for parent in above:
                if not self.required[node, parent]:
                    rest = tuple(other for other in above if other != parent)
                    self.gains[DELETE, node, parent] = self.scores.local(node, rest) - now
            if len(above) < self.max_parents:
                free = ~self.forbidden[node]
                free[[node, *above]] = False
                self.gains[ADD, node, free] = np.nan  # not known yet
        self._learn_gains()

    def _learn_gains(self) -> None:
        """Score the additions that would close no cycle now, and those that reversals need."""
        wanted = np.isnan(self.gains[ADD]) & (~self.ancestors.T | self.arcs.T)
        for node in np.flatnonzero(wanted.any(axis=1)).tolist():
            others = np.flatnonzero(wanted[node])
            above = tuple(sorted(self.parents[node]))
            added = self.scores.additions(node, above, others)
            self.gains[ADD, node, others] = added - self.scores.local(node, above)

    def apply(self, move: Move) -> None:
        """Make a move."""
        what, child, parent = move
        if what == ADD:
            self.parents[child].add(parent)
            self.arcs[child, parent] = True
            above = self.ancestors[parent].copy()
            above[parent] = True
            self.ancestors[self.ancestors[:, child]] |= above
            self.ancestors[child] |= above
            self.refresh([child])
            return
        self.parents[child].remove(parent)
        if what == REVERSE:
            self.parents[parent].add(child)
        self.arcs[child, parent], self.arcs[parent, child] = False, what == REVERSE
        self.ancestors = _ancestors(self.parents, len(self.parents))
        self.refresh([child] if what != REVERSE else [child, parent])

    def all_gains(self) -> FloatArray:
        """Gains of adding, deleting and reversing [child, parent], −inf where none may; (3, d, d).

        Of an arc that stands, the reversal makes the parent a child.
        """
        gains = np.full((3, *self.ancestors.shape), -np.inf)
        # What is not known yet, NaN, would close a cycle.
        np.copyto(gains[ADD], self.gains[ADD], where=~self.ancestors.T & ~np.isnan(self.gains[ADD]))
        gains[DELETE] = self.gains[DELETE]
        children, parents = np.nonzero(self.arcs)
        # A way from parent to child besides the arc would close a cycle with the turned arc.
        detour = (self.arcs[children] & self.ancestors[:, parents].T).any(axis=1)
        children, parents = children[~detour], parents[~detour]
        turned = self.gains[DELETE, children, parents] + self.gains[ADD, parents, children]
        gains[REVERSE, children, parents] = turned
        return gains

    def random_move(self, random: np.random.Generator) -> tuple[Move, float] | None:
        """Return any move that leaves no cycle, with its gain."""
        gains = self.all_gains()
        moves = np.argwhere(np.isfinite(gains))
        if not len(moves):
            return None
        what, child, parent = moves[int(random.integers(len(moves)))].tolist()
        return (what, child, parent), float(gains[what, child, parent])


def _ancestors(parents: Parents, d: int) -> BoolArray:
    """Whether variable j is above variable i; shape (d, d)."""
    above = np.zeros((d, d), dtype=bool)
    done: set[int] = set()
    while len(done) < d:
        before = len(done)
        for node in range(d):
            if node not in done and parents[node] <= done:
                for parent in parents[node]:
                    above[node] |= above[parent]
                    above[node, parent] = True
                done.add(node)
        if len(done) == before:
            raise ArithmeticError("a search made a cycle; please report this as a bug")
    return above


def best_move(gains: FloatArray, tabu: Iterable[Move] = ()) -> tuple[Move | None, float]:
    """Move of largest gain; of ties add, then delete, then reverse, the first by parent and child.

    Adding i → j and j → i often gain the same to the last bit, so the rule decides where arcs
    point: from the columns that come first.
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
    """Return the move that would undo this one."""
    what, child, parent = move
    if what == REVERSE:
        return (REVERSE, parent, child)
    return (DELETE if what == ADD else ADD, child, parent)


def hill_climbing(
    climber: Climber,
    *,
    tabu_length: int = 0,
    tabu_rounds: int = 0,
    limit: float = math.inf,
    watch: Callable[[int, float], None] | None = None,
) -> Found:
    """Take the best move while it improves; with tabu, go on downhill for some rounds.

    Parameters
    ----------
    climber : Climber
        Where to begin.
    tabu_length : int, default=0
        So many last moves may not be undone.
    tabu_rounds : int, default=0
        How many moves in a row may fail to beat the best network seen.
    limit : float, default=inf
        Seconds; the best network so far is returned when they are over, as upon an interrupt.
    watch : callable, default=None
        Told the number of moves and the score after each.

    References
    ----------
    Glover, "Tabu search", ORSA Journal on Computing 1, 1989.
    """
    end = time.monotonic() + limit
    score = climber.score
    best, best_score = climber.arcs.copy(), score
    last: deque[Move] = deque(maxlen=tabu_length)
    moves = idle = 0
    try:
        while complete := time.monotonic() <= end:
            gains = climber.all_gains()
            move, gain = best_move(gains)
            if score + gain <= best_score + IMPROVES:  # else even an undoing is welcome
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
    """Return the parents of every variable."""
    return tuple(tuple(np.flatnonzero(above).tolist()) for above in arcs)


def perturb(climber: Climber, n_moves: int, random: np.random.Generator) -> None:
    """Make some random moves, for another start."""
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
    """Random moves, worse ones the more rarely the colder it gets; the best network seen.

    A move of gain g < 0 is made with probability exp(g / T); T falls from ``warm`` to ``cold``
    geometrically. Ends with hill climbing from the best network.

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
    """Each variable takes, one by one, the earlier variable that improves its score most.

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
