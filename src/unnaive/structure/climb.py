"""Greedy search for networks: hill climbing, tabu, K2, simulated annealing."""

from __future__ import annotations

import math
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from unnaive._typing import BoolArray, FloatArray
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
    scores : FamilyScores
        Of a variable given its parents.
    max_parents : int
        Most parents of a variable.
    required, forbidden : ndarray of shape (d, d)
        Arcs [child, parent] that stay, or may not be.
    """

    scores: FamilyScores
    max_parents: int
    required: BoolArray
    forbidden: BoolArray
    parents: Parents = field(default_factory=list)

    def __post_init__(self) -> None:
        d = len(self.scores.sizes)
        self.parents = [set(above) for above in self.parents] or [set() for _ in range(d)]
        self.gains = np.full((2, d, d), -np.inf)  # of adding and of deleting [child, parent]
        self.refresh(range(d))

    @property
    def score(self) -> float:
        """Score of the network as it is."""
        return self.scores.total([tuple(sorted(above)) for above in self.parents])

    def refresh(self, nodes: Iterable[int]) -> None:
        """Compute the gains of all changes of some variables' parents anew."""
        d = len(self.parents)
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
                others = np.flatnonzero(free)
                if len(others):
                    found = self.scores.additions(node, above, others)
                    self.gains[ADD, node, others] = found - now
        self.ancestors = _ancestors(self.parents, d)

    def apply(self, move: Move) -> None:
        """Make a move."""
        what, child, parent = move
        if what == ADD:
            self.parents[child].add(parent)
        else:
            self.parents[child].remove(parent)
        if what == REVERSE:
            self.parents[parent].add(child)
        self.refresh([child] if what != REVERSE else [child, parent])

    def moves(self) -> tuple[list[Move], FloatArray]:
        """All moves that leave a network without cycles, with their gains."""
        allowed = np.where(self.ancestors.T, -np.inf, self.gains[ADD])
        found: list[Move] = []
        gains: list[float] = []
        for child, parent in zip(*np.nonzero(np.isfinite(allowed)), strict=True):
            found.append((ADD, int(child), int(parent)))
            gains.append(float(allowed[child, parent]))
        for child, above in enumerate(self.parents):
            for parent in sorted(above):
                dropped = float(self.gains[DELETE, child, parent])
                if not math.isfinite(dropped):
                    continue
                found.append((DELETE, child, parent))
                gains.append(dropped)
                turned = dropped + float(self._turned(child, parent))
                if math.isfinite(turned):
                    found.append((REVERSE, child, parent))
                    gains.append(turned)
        return found, np.array(gains)

    def _turned(self, child: int, parent: int) -> float:
        """Gain of the new arc of a reversal; −inf if there is another way from parent to child."""
        gain = self.gains[ADD, parent, child]
        for other, above in enumerate(self.parents):
            detour = parent in above and other != child and self.ancestors[child, other]
            if detour:
                return -math.inf
        return float(gain)


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


def best_move(
    moves: list[Move], gains: FloatArray, tabu: set[tuple[Any, ...]] | None = None
) -> tuple[Move | None, float]:
    """Move of largest gain; of those that tie, add before delete before reverse, in order."""
    if tabu:
        allowed = np.array([_undoing(move) not in tabu for move in moves], dtype=bool)
        gains = np.where(allowed, gains, -np.inf)
    if not len(gains) or not np.isfinite(gains.max()):
        return None, -math.inf
    tied = np.flatnonzero(gains >= gains.max() - IMPROVES)
    chosen = min((moves[place] for place in tied), default=None)
    return chosen, float(gains.max())


def _undoing(move: Move) -> Move:
    """Return the move that this one would undo."""
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
    best, best_score = _frozen(climber.parents), score
    last: deque[Move] = deque(maxlen=tabu_length)
    moves = idle = 0
    complete = True
    try:
        while True:
            if time.monotonic() > end:
                complete = False
                break
            move, gain = best_move(*climber.moves(), set(last))
            if move is None or (gain <= IMPROVES and idle >= tabu_rounds):
                break
            climber.apply(move)
            last.append(move)
            moves, score = moves + 1, score + gain
            idle = 0 if score > best_score + IMPROVES else idle + 1
            if not idle:
                best, best_score = _frozen(climber.parents), score
            if watch is not None:
                watch(moves, score)
    except KeyboardInterrupt:
        complete = False
    return Found(best, climber.scores.total(best), moves, complete)


def _frozen(parents: Parents) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(sorted(above)) for above in parents)


def perturb(climber: Climber, n_moves: int, random: np.random.Generator) -> None:
    """Make some random moves, for another start."""
    for _ in range(n_moves):
        moves, _ = climber.moves()
        if not moves:
            return
        climber.apply(moves[int(random.integers(len(moves)))])


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
    best, best_score, made = _frozen(climber.parents), score, 0
    try:
        for step in range(rounds):
            if time.monotonic() > end:
                break
            temperature = warm * (cold / warm) ** (step / max(rounds - 1, 1))
            moves, gains = climber.moves()
            if not moves:
                break
            place = int(random.integers(len(moves)))
            if gains[place] >= 0 or random.random() < math.exp(gains[place] / temperature):
                climber.apply(moves[place])
                score, made = score + float(gains[place]), made + 1
                if score > best_score + IMPROVES:
                    best, best_score = _frozen(climber.parents), score
    except KeyboardInterrupt:
        end = time.monotonic()
    start = [set(above) for above in best]
    again = Climber(climber.scores, climber.max_parents, climber.required, climber.forbidden, start)
    found = hill_climbing(again, limit=max(end - time.monotonic(), 0.0))
    return Found(found.parents, found.score, made + found.moves, found.complete)


def k2_search(
    scores: FamilyScores, order: list[int], max_parents: int, forbidden: BoolArray
) -> Found:
    """Each variable takes, one by one, the earlier variable that improves its score most.

    References
    ----------
    Cooper & Herskovits, "A Bayesian method for the induction of probabilistic networks from
    data", Machine Learning 9, 1992.
    """
    parents: Parents = [set() for _ in order]
    moves = 0
    for place, node in enumerate(order):
        score = scores.local(node, ())
        while len(parents[node]) < max_parents:
            free = [o for o in sorted(order[:place]) if o not in parents[node]]
            others = np.array([o for o in free if not forbidden[node, o]], dtype=np.int64)
            if not len(others):
                break
            found = scores.additions(node, tuple(sorted(parents[node])), others)
            best = int(np.argmax(found >= found.max() - IMPROVES))
            if found[best] <= score + IMPROVES:
                break
            parents[node].add(int(others[best]))
            score, moves = float(found[best]), moves + 1
    frozen = _frozen(parents)
    return Found(frozen, scores.total(frozen), moves, True)
