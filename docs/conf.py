"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs build/docs``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docutils import nodes

import unnaive

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "unnaive"
author = "The unnaive developers"
copyright = author  # noqa: A001 - Sphinx asks for it by this name
release = unnaive.__version__

extensions = [
    "figures",
    "mathml",
    "reference",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_ext", "results", "gallery/*.md5", "gallery/*.ipynb"]
templates_path = ["_templates"]

html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_update_mathjax = False

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"(make_patients|compare_models|between_naive_and_full)\.py",
    "download_all_examples": False,
    "show_signature": False,
    "run_stale_examples": True,
    "write_computation_times": False,
    "remove_config_comments": True,
    "within_subsection_order": "ExampleTitleSortKey",
    "copyfile_regex": r".*\.csv",
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "unnaive"
html_static_path = ["_static"]
html_css_files = ["unnaive.css"]
html_copy_source = False
html_show_sourcelink = False


def leave_out_foreign(app, what, name, member, skip, options):
    """Leave out what comes from scikit-learn, and fields that Python describes by number."""
    foreign = str(getattr(member, "__module__", "")).startswith("sklearn.")
    numbered = str(getattr(member, "__doc__", "")).startswith("Alias for field number")
    return skip or foreign or numbered


def escape_formulas(app, what, name, member, options, lines):
    """Keep ``(n_features_in_,)`` and ``|log p|`` from being read as a link and a substitution."""
    for place, line in enumerate(lines):
        linked = re.sub(r"\((\w+_),", r"(``\1``,", line)
        lines[place] = re.sub(r"(?<![`\w])\|(\w[\w ]*)\|", r"\\|\1\\|", linked)


def end_code_at_its_end(app, doctree):
    """Take away the empty line that an example needs before the fence, for doctest's sake."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.rawsource.rstrip()
        block[:] = [nodes.Text(block.astext().rstrip())]


def setup(app):
    """Tell Sphinx of the above."""
    app.connect("doctree-read", end_code_at_its_end)
    app.connect("autodoc-skip-member", leave_out_foreign)
    app.connect("autodoc-process-docstring", escape_formulas, priority=400)
