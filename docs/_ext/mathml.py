"""Write formulas as MathML, which browsers render without scripts and without the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_log = logging.getLogger(__name__)
_UNKNOWN = {r"\Big": "", r"\dots": r"\ldots"}  # unknown to docutils


def to_mathml(formula: str, *, display: bool, node: nodes.Node) -> str:
    """Translate LaTeX; a formula that cannot be translated is a warning, so ``-W`` fails."""
    for command, known in _UNKNOWN.items():
        formula = formula.replace(command, known)
    try:
        return str(latex2mathml.tex2mathml(formula, as_block=display))
    except MathError as error:
        _log.warning("formula %r: %s", formula, error, location=node)
        return f"<code>{formula}</code>"


def visit_inline(self: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(to_mathml(node.astext(), display=False, node=node))
    raise nodes.SkipNode


def visit_block(self: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed formula."""
    formula = to_mathml(node.astext(), display=True, node=node)
    self.body.append(f'<div class="math-block">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the renderer ``mathml``."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
