"""Checkpoints: a count that was stopped continues from its checkpoint, or says why it cannot."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from unnaive.exceptions import ModelFileError, SchemaMismatch
from unnaive.io import store
from unnaive.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from unnaive._typing import State

_CURE = "name another checkpoint, delete this one, or count as before"


@dataclass
class Checkpoint:
    """Progress of a count over many files, saved after every file.

    ``settings`` hold everything that decides the result: target, pairs, schema or how it is
    learned, and the files with their sizes and times. The checkpoint file is replaced atomically.

    Attributes
    ----------
    sketched, counted : list of str
        Names of the files that each pass has finished.
    skipped : dict
        Reasons why files were skipped, by name.
    memory : dict
        Intermediate results of the passes, by name, as states for the store.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "count.checkpoint"
    ...     Checkpoint.open(path, {"target": "y"}).save(lambda: {"rows": 3})
    ...     Checkpoint.open(path, {"target": "y"}).memory
    {'rows': 3}
    """

    path: Path | None
    settings: State
    sketched: list[str] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    memory: State = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | PathLike[str] | None, settings: State) -> Checkpoint:
        """Continue from a file if it exists; its settings must be the same."""
        fresh = cls(None if path is None else Path(path), settings)
        if fresh.path is None or not fresh.path.exists():
            return fresh
        state = store.load(fresh.path, kind="checkpoint")
        try:
            kept = cls(fresh.path, **state)
            _require_same(fresh.path, kept.settings, settings)
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelFileError(
                f"{path} is a checkpoint that this version does not understand ({error}); {_CURE}"
            ) from error
        return kept

    def save(self, hold: Callable[[], State]) -> None:
        """Save the checkpoint with the pass's present results, if it has a path."""
        if self.path is None:
            return
        self.memory |= hold()
        state = {name: value for name, value in vars(self).items() if name != "path"}
        store.save(self.path, state, kind="checkpoint")

    def restart(self) -> None:
        """Discard the results of the first pass."""
        self.sketched, self.memory = [], {}


def _require_same(path: Path, there: State, here: State) -> None:
    """Raise an error that names the first difference between two settings."""
    before = f"{path} is the checkpoint of another count"
    for name, now in here.items():
        then = there[name]
        if then == now:
            continue
        if name == "files":
            raise SchemaMismatch(f"{before}: {_other_file(then, now)}; {_CURE}")
        if name == "schema" and then is not None and now is not None:
            try:
                Schema.from_state(now).require_same(Schema.from_state(then))
            except SchemaMismatch as error:
                raise SchemaMismatch(f"{before} (here: now, there: then): {error}") from error
        if name == "schema":
            what = "then the schema was learned and now it is given, or the other way round"
            raise SchemaMismatch(f"{before}: {what}; {_CURE}")
        raise SchemaMismatch(f"{before}: {name} was {then!r} and now is {now!r}; {_CURE}")


def _other_file(then: dict[str, list[int]], now: dict[str, list[int]]) -> str:
    for name, stamp in now.items():
        if name not in then:
            return f"{name} is new (count new files by themselves, with schema=, and merge)"
        if then[name] != stamp:
            return f"{name} was changed ({then[name][0]:,} bytes then, {stamp[0]:,} now)"
    return f"{next(name for name in then if name not in now)} was counted, but is not listed now"
