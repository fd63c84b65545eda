"""How the documentation is built: ``sphinx-build -W --keep-going -b html docs build/docs``."""

from __future__ import annotations

import os
import re
import sys
from html import escape
from pathlib import Path

from docutils import nodes

import unnaive

HERE = Path(__file__).parent
DESCRIPTION = "Bayesian classifiers that do not assume that features are independent."
sys.path.insert(0, str(HERE / "_ext"))

project = "unnaive"
author = "The unnaive developers"
copyright = author  # noqa: A001 - Sphinx asks for it by this name
release = version = unnaive.__version__

extensions = [
    "figures",
    "mathml",
    "reference",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
if os.environ.get("READTHEDOCS"):  # needs the network, which a build at home may not have
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }
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
    "doc_module": ("unnaive",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
    "copyfile_regex": r".*\.csv",
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"unnaive {release}"
html_favicon = "_static/favicon.svg"
html_logo = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["unnaive.css"]
html_copy_source = False
html_show_sourcelink = False


def describe_page(app, pagename, templatename, context, doctree):
    """Add the page's first paragraph as its description, for search engines and link previews."""
    if doctree is None:
        return
    texts = (node.astext().replace("\n", " ") for node in doctree.findall(nodes.paragraph))
    text = escape(next((text for text in texts if len(text) > 40), DESCRIPTION)[:250], quote=True)
    title = escape(re.sub("<[^>]*>", "", context["title"]), quote=True)
    context["metatags"] = context.get("metatags", "") + (
        f'<meta name="description" content="{text}"/>\n'
        f'<meta property="og:title" content="{title}"/>\n'
        f'<meta property="og:description" content="{text}"/>\n'
        '<meta property="og:type" content="website"/>\n'
        '<meta property="og:site_name" content="unnaive"/>\n'
    )


def link_examples(app, what, name, member, options, lines):
    """End the description of a class or function with the gallery's examples that use it."""
    page = Path(app.srcdir) / "gallery" / "backreferences" / f"{name}.examples"
    if what in {"class", "function"} and page.exists() and page.stat().st_size:
        lines += ["", f".. minigallery:: {name}", "   :add-heading: Examples using it", ""]


def leave_out_foreign(app, what, name, member, skip, options):
    """Skip members of scikit-learn, and tuple fields that Python describes by number."""
    foreign = str(getattr(member, "__module__", "")).startswith("sklearn.")
    numbered = str(getattr(member, "__doc__", "")).startswith("Alias for field number")
    return skip or foreign or numbered


def escape_formulas(app, what, name, member, options, lines):
    """Escape ``(n_features_in_,)`` and ``|log p|``, which are no link and no substitution."""
    for place, line in enumerate(lines):
        linked = re.sub(r"\((\w+_),", r"(``\1``,", line)
        lines[place] = re.sub(r"(?<![`\w])\|(\w[\w ]*)\|", r"\\|\1\\|", linked)


def end_code_at_its_end(app, doctree):
    """Remove the empty line that doctest needs before the end of a code block."""
    for block in doctree.findall(nodes.literal_block):
        block.rawsource = block.rawsource.rstrip()
        block[:] = [nodes.Text(block.astext().rstrip())]


def setup(app):
    """Connect these functions to Sphinx."""
    app.connect("doctree-read", end_code_at_its_end)
    app.connect("html-page-context", describe_page)
    app.connect("autodoc-skip-member", leave_out_foreign)
    app.connect("autodoc-process-docstring", escape_formulas, priority=400)
    app.connect("autodoc-process-docstring", link_examples, priority=900)
