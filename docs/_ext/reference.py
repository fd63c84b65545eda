"""The reference, written anew by every build: one page a room, every public name on it.

Names come from each room's ``__all__``, so that none can be forgotten.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unnaive
from unnaive.models import Classifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

ROOMS = {
    "checks": "Checking data",
    "evaluate": "Evaluating and comparing",
    "explain": "Explaining and drawing",
    "report": "Reports",
    "datasets": "Data sets",
    "counts": "Counts",
    "schema": "Schemas",
    "discretize": "Discretizers",
    "information": "Information",
    "structure": "Structures",
    "tables": "Smoothing and networks",
    "search": "Estimation-of-distribution algorithms",
    "papers": "Papers",
    "exceptions": "Errors and warnings",
}
MORE = {  # what users are told to import, and no ``__all__`` of a room names
    "counts": ("privacy.suppress", "privacy.noisy", "privacy.noise", "engines.files.count_files"),
    "schema": ("document.load_schema", "document.save_schema"),
    "structure": (
        *("graph.Graph", "graph.FamilyGraph", "parents.SuperParents", "groups.GroupGraph"),
        *("bags.HiddenParents", "dag.DAG"),
    ),
    "tables": ("base.Tables", "network.Network"),
    "papers": (
        *("barrow.BarrowNaiveBayes", "barrow.BarrowFullBayes", "barrow.BarrowKNaiveBayes"),
        "barrow.Quirks",
    ),
    "exceptions": (
        *("UnnaiveError", "SchemaMismatch", "TableTooLarge", "DataFileError", "ModelFileError"),
        *("WrongKindError", "DataWarning"),
    ),
}
PARTS = (  # of ``unnaive.models``, for those who write a model
    *("recipe.Recipe", "recipe.Learned", "recipe.Estimate", "recipe.TableMaker", "recipe.Maker"),
    *("makers.TreeFactors", "makers.FamilyFactors", "choice.Prefixes", "choice.select"),
    *("choice.left_out_candidates", "classifier.Shown", "fitted.Fitted", "registry.class_of"),
    *("gaussian.GaussianRecipe", "gaussian.GaussianFitted"),
)
FOREIGN = "BaseEstimator, ClassifierMixin, ABC, tuple, dict, Exception"
MODEL_METHODS = """
Every model has ``fit``, ``predict``, ``predict_proba``, ``predict_log_proba``,
``predict_joint_log_proba``, ``partial_fit``, ``forget``, ``explain`` and ``save``, and from
scikit-learn ``score``, ``get_params`` and ``set_params``; those that count also ``fit_counts``
and ``loo_predict_proba``.
"""


def title(text: str) -> str:
    """Underline a title."""
    return f"{text}\n{'=' * len(text)}\n"


def listing(names: list[str]) -> str:
    """List names with their first lines, and make a page of each."""
    lines = "".join(f"   {name}\n" for name in names)
    return f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{lines}"


def top_pages() -> dict[str, str]:
    """Write the pages of the names that ``import unnaive`` gives."""
    names = [name for name in unnaive.__all__ if not name.startswith("__")]
    found = {name: getattr(unnaive, name) for name in names}
    models = [
        name
        for name, thing in found.items()
        if inspect.isclass(thing) and issubclass(thing, Classifier)
    ]
    bases = ["unnaive.models.Classifier", "unnaive.models.CountsClassifier"]
    others = [f"unnaive.{name}" for name in names if name not in models]
    own = [f"unnaive.{name}" for name in models]
    return {
        "models": f"{title('Models')}{MODEL_METHODS}\n{listing(own)}\n"
        f"What they share:\n\n{listing(bases)}",
        "around": f"{title('Around the models')}\n{listing(others)}",
    }


def entry(room: str, name: str) -> str:
    """Describe a name on the page of its room."""
    path = f"unnaive.{room}.{name}"
    home, _, own = path.rpartition(".")
    thing = getattr(import_module(home), own)
    if inspect.isclass(thing):
        return f".. autoclass:: {path}\n   :members:\n   :inherited-members: {FOREIGN}\n"
    return f".. {'autofunction' if callable(thing) else 'autodata'}:: {path}\n"


def room_page(room: str, heading: str) -> str:
    """Write the page of a room: its description, and its names that have no page yet."""
    module: Any = import_module(f"unnaive.{room}")
    known = {id(getattr(unnaive, name)) for name in unnaive.__all__}
    own = getattr(module, "__all__", ())
    names = [name for name in own if id(getattr(module, name)) not in known]
    return page_of(heading, room, room, (*names, *MORE.get(room, ())))


def page_of(heading: str, described: str, room: str, names: Sequence[str]) -> str:
    """Write a page of names of a room, below the description of some module."""
    about = f".. automodule:: unnaive.{described}\n   :no-members:\n"
    about += f"\n.. currentmodule:: unnaive.{room}\n"
    listed = listing(list(names)).replace("   :toctree: generated\n", "")
    entries = "\n".join(entry(room, name) for name in names)
    return f"{title(heading)}\n{about}\n{listed}\n{entries}"


def write_pages(app: Sphinx) -> None:
    """Write all pages, those that changed alone."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    parts = page_of("Parts of a model", "models.recipe", "models", PARTS)
    rooms = {room: room_page(room, heading) for room, heading in ROOMS.items()}
    pages = {**top_pages(), "parts": parts, **rooms}
    tree = "".join(f"   {name}\n" for name in pages)
    pages["index"] = f"{title('Reference')}\n.. toctree::\n   :maxdepth: 1\n\n{tree}"
    for name, text in pages.items():
        page = folder / f"{name}.rst"
        if not page.exists() or page.read_text() != text:
            page.write_text(text)


def setup(app: Sphinx) -> dict[str, Any]:
    """Write before Sphinx looks for pages, and before autosummary reads them."""
    app.connect("config-inited", lambda app, _: write_pages(app))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
