"""Several trees that predict together: averaged trees, and one tree per class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unnaive._core.tables import log_posterior
from unnaive._dataclasses import dataclass
from unnaive.exceptions import TableTooLarge
from unnaive.tables.base import Tables
from unnaive.tables.families import FamilyTables
from unnaive.tables.terms import Terms, joined
from unnaive.tables.terms.blend import blended
from unnaive.tables.trees import only_class

if TYPE_CHECKING:
    from unnaive._typing import CodeArray, FloatArray, IntArray, State
    from unnaive.tables.base import Arrays
    from unnaive.tables.trees import TreeTables


@dataclass(frozen=True, eq=False)
class AveragedTrees(Tables):
    """Trees that are averaged: the log mean of their posteriors, or of their joints.

    Attributes
    ----------
    members : tuple of TreeTables
        The trees.
    of_posteriors : bool, default=True
        Average posteriors; False averages joints.
    """

    members: tuple[TreeTables | FamilyTables, ...]
    of_posteriors: bool = True

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        total = np.full((codes.shape[1], self.members[0].n_classes), -np.inf)
        for member in self.members:
            joint = member.joint(codes, held, n_jobs)
            if self.of_posteriors:
                member.answer_hopeless(joint, held)
                log_posterior(joint.copy(), joint)
            np.logaddexp(total, joint, out=total)
        return np.asarray(total - np.log(len(self.members)))

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log mean into the terms of the trees."""
        equal = np.full(len(self.members), 1.0 / len(self.members))
        members = [member.terms(codes) for member in self.members]
        return blended(members, equal, posteriors=self.of_posteriors)

    def describe(self, arrays: Arrays) -> State:
        """Describe the trees and how they are averaged."""
        parts = [member.describe(arrays) for member in self.members]
        return {"kind": "mean", "parts": parts, "posteriors": bool(self.of_posteriors)}


@dataclass(frozen=True, eq=False)
class OneClass(Tables):
    """Tables of one class, with columns of very many values.

    Attributes
    ----------
    tree : FamilyTables
        Tables of the class.
    """

    tree: FamilyTables

    def apart(self) -> OneClass:
        """Return tables that ignore missing parents."""
        return OneClass(self.tree.apart())

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        return self.tree.joint(codes, held, n_jobs)

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint of the class."""
        return self.tree.terms(codes)

    def describe(self, arrays: Arrays) -> State:  # noqa: ARG002 - the interface of all tables
        """Raise an error: a page cannot hold the tables of columns with very many values."""
        raise TableTooLarge(
            "the tables of a column with very many values do not fit into a page; leave it out"
        )


def of_class(tree: TreeTables | FamilyTables, label: int) -> TreeTables | OneClass:
    """Return the tables of one class."""
    if isinstance(tree, FamilyTables):
        return OneClass(tree.only_class(label))
    return only_class(tree, label)


@dataclass(frozen=True, eq=False)
class ClassTrees(Tables):
    """One tree per class: the joint of class c comes from tree c.

    Attributes
    ----------
    members : tuple of TreeTables
        Tables of one class each, see :func:`of_class`.
    """

    members: tuple[TreeTables | OneClass, ...]

    def apart(self) -> ClassTrees:
        """Return tables that ignore missing parents."""
        return ClassTrees(tuple(member.apart() for member in self.members))

    def _joint(self, codes: CodeArray, held: IntArray, n_jobs: int | None) -> FloatArray:
        parts = [
            member.joint(codes, np.where(held == label, 0, -1), n_jobs)
            for label, member in enumerate(self.members)
        ]
        return np.concatenate(parts, axis=1)

    def terms(self, codes: CodeArray) -> Terms:
        """Split the log joint of each class into the terms of its tree."""
        members = [member.terms(codes) for member in self.members]
        keys, places = joined(members)
        base = np.concatenate([terms.base for terms in members], axis=1)
        parts = np.zeros((*base.shape, len(keys)))
        for label, (terms, place) in enumerate(zip(members, places, strict=True)):
            parts[:, label, place] = terms.parts[:, 0]
        return Terms(keys, base, parts)

    def describe(self, arrays: Arrays) -> State:
        """Describe the tree of every class."""
        return {"kind": "classes", "parts": [member.describe(arrays) for member in self.members]}
