"""Write the pages of the reference: one page for each package, with all its public names.

Names come from ``__all__`` of each package, so that none is forgotten. Models are grouped by the
family that the register gives them.
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
    "export": "Exporting",
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
MORE = {  # public names that are not in the ``__all__`` of their package
    "counts": ("privacy.suppress", "privacy.noisy", "privacy.noise", "engines.files.count_files"),
    "schema": ("document.load_schema", "document.save_schema"),
    "structure": (
        *("graph.Graph", "graph.FamilyGraph", "parents.SuperParents", "groups.GroupGraph"),
        *("parents.HiddenParents", "dag.DAG", "junction.JunctionTree", "junction.junction_tree"),
        "back_door.back_door_set",
    ),
    "tables": ("base.Tables", "network.Network", "importance.EstimatedProbabilities"),
    "papers": (
        *("barrow.BarrowNaiveBayes", "barrow.BarrowFullBayes", "barrow.BarrowKNaiveBayes"),
        "barrow.Quirks",
    ),
    "exceptions": (
        *("UnnaiveError", "SchemaMismatch", "TableTooLarge", "DataFileError", "ModelFileError"),
        *("WrongKindError", "SignatureError", "DataWarning"),
    ),
}
PARTS = (  # of ``unnaive.models``, for authors of models
    *("recipe.Recipe", "recipe.Learned", "recipe.Estimate", "recipe.TableMaker", "recipe.Maker"),
    *("makers.TreeFactors", "makers.FamilyFactors", "choice.Prefixes", "choice.select"),
    *("choice.left_out_candidates", "fitted.Fitted", "fitted.Shown", "registry.class_of"),
    *("gaussian.GaussianRecipe", "gaussian.GaussianFitted"),
)
FOREIGN = "BaseEstimator, ClassifierMixin, ABC, tuple, dict, str, Exception"
MODEL_METHODS = """
Every model has ``fit``, ``predict``, ``predict_proba``, ``predict_log_proba``,
``predict_joint_log_proba``, ``partial_fit``, ``forget``, ``explain`` and ``save``, and from
scikit-learn ``score``, ``get_params`` and ``set_params``. Models that learn from counts also have
``fit_counts`` and ``loo_predict_proba``. :doc:`/choosing-a-model` compares them.
"""


def title(text: str) -> str:
    """Underline a title."""
    return f"{text}\n{'=' * len(text)}\n"


def listing(names: list[str]) -> str:
    """List names with the first lines of their docstrings, and make a page of each."""
    lines = "".join(f"   {name}\n" for name in names)
    return f".. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{lines}"


def families() -> dict[str, list[str]]:
    """Return the names of the model classes by family, in the order of the register."""
    classes = dict.fromkeys(type(unnaive.make(key)) for key in unnaive.all_models())
    members: dict[str, list[str]] = {}
    for model in classes:
        members.setdefault(model.family, []).append(model.__name__)
    return members


def top_pages() -> dict[str, str]:
    """Write the pages of the names in the top package: models by family, then all others."""
    sections = ""
    for family, members in families().items():
        heading = family[0].upper() + family[1:]
        names = listing([f"unnaive.{name}" for name in members])
        sections += f"{heading}\n{'-' * len(heading)}\n\n{names}\n"
    bases = listing(["unnaive.models.Classifier", "unnaive.models.CountsClassifier"])
    others = [
        f"unnaive.{name}"
        for name in unnaive.__all__
        if not name.startswith("__") and not is_model(getattr(unnaive, name))
    ]
    return {
        "models": f"{title('Models')}{MODEL_METHODS}\n{sections}"
        f"Base classes\n------------\n\n{bases}",
        "around": f"{title('Functions and transformers')}\n{listing(others)}",
    }


def is_model(thing: object) -> bool:
    """Whether something is a class of models."""
    return inspect.isclass(thing) and issubclass(thing, Classifier)


def entry(room: str, name: str) -> str:
    """Describe a name on the page of its package."""
    path = f"unnaive.{room}.{name}"
    home, _, own = path.rpartition(".")
    thing = getattr(import_module(home), own)
    if inspect.isclass(thing):
        return f".. autoclass:: {path}\n   :members:\n   :inherited-members: {FOREIGN}\n"
    return f".. {'autofunction' if callable(thing) else 'autodata'}:: {path}\n"


def room_page(room: str, heading: str) -> str:
    """Write the page of a package: its description, and its names that have no page yet."""
    module: Any = import_module(f"unnaive.{room}")
    known = {id(getattr(unnaive, name)) for name in unnaive.__all__}
    own = getattr(module, "__all__", ())
    names = [name for name in own if id(getattr(module, name)) not in known]
    return page_of(heading, room, room, (*names, *MORE.get(room, ())))


def page_of(heading: str, described: str, room: str, names: Sequence[str]) -> str:
    """Write a page of names of a package, below the description of a module."""
    about = f".. automodule:: unnaive.{described}\n   :no-members:\n"
    about += f"\n.. currentmodule:: unnaive.{room}\n"
    listed = listing(list(names)).replace("   :toctree: generated\n", "")
    entries = "\n".join(entry(room, name) for name in names)
    return f"{title(heading)}\n{about}\n{listed}\n{entries}"


def write_pages(app: Sphinx) -> None:
    """Write the pages that changed."""
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
