"""Graphs in Graphviz' language DOT: nodes, arrows and attributes, as far as networks need them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from unnaive.exceptions import UnnaiveError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SKIPPED = re.compile(r"\s+|//[^\n]*|/\*.*?\*/|^#[^\n]*$", re.DOTALL | re.MULTILINE)
_TOKEN = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<word>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))'
    r"|(?P<sign>->|--|[{}\[\];,=:])",
    re.DOTALL,
)
_WORDS = {"node", "edge", "graph"}
_LARGEST = 1 << 26  # characters of a text

Attributes = dict[str, str]


def quoted(text: str) -> str:
    r"""Write a name or a value in quotes; :func:`read_dot` reads it back.

    >>> print(quoted('say "a"'))
    "say \"a\""
    """
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def write_dot(
    names: Sequence[str],
    directed: Sequence[tuple[int, int]],
    undirected: Sequence[tuple[int, int]] = (),
    attributes: Mapping[str, Attributes] | None = None,
) -> str:
    """Write a graph; edges without direction have ``dir=none``."""
    lines = ["digraph {"]
    for name in names:
        given = (attributes or {}).get(name, {})
        inside = ", ".join(f"{key}={quoted(value)}" for key, value in given.items())
        lines.append(f"  {quoted(name)} [{inside}];" if inside else f"  {quoted(name)};")
    lines += [f"  {quoted(names[i])} -> {quoted(names[j])};" for i, j in directed]
    lines += [f"  {quoted(names[i])} -> {quoted(names[j])} [dir=none];" for i, j in undirected]
    return "\n".join([*lines, "}"])


def read_dot(text: str) -> tuple[dict[str, Attributes], list[tuple[str, str]]]:
    """Return the nodes of a directed graph with their attributes, and its arrows.

    Chains ``a -> b -> c``, sets ``a -> {b c}``, subgraphs, ports and comments are read; attributes
    of arrows and defaults are ignored. An edge without direction is an error.

    Examples
    --------
    >>> read_dot('digraph g { rankdir=LR; a [states="no yes"]; a -> {b "c d"} }')
    ({'a': {'states': 'no yes'}, 'b': {}, 'c d': {}}, [('a', 'b'), ('a', 'c d')])
    """
    return _Reader(text).graph()


class _Reader:
    """Reads the tokens of a text from left to right."""

    def __init__(self, text: str) -> None:
        if len(text) > _LARGEST:
            raise UnnaiveError(f"the text has more than {_LARGEST} characters; is it a graph?")
        self.text, self.tokens, position = text, list[tuple[str, bool, int]](), 0
        while position < len(text):
            if skipped := _SKIPPED.match(text, position):
                position = skipped.end()
                continue
            match = _TOKEN.match(text, position)
            if not match:
                raise self.error(position, f"found {text[position : position + 20]!r}")
            name = match["quoted"]
            token = match[0] if name is None else re.sub(r'\\(["\\])', r"\1", name)
            self.tokens.append((token, match["sign"] is not None, position))
            position = match.end()
        self.place, self.depth = 0, 0
        self.nodes: dict[str, Attributes] = {}
        self.arrows: dict[tuple[str, str], None] = {}

    def error(self, position: int, what: str) -> UnnaiveError:
        line = self.text.count("\n", 0, position) + 1
        return UnnaiveError(f"line {line}: {what}; this is not a directed graph in DOT")

    def peek(self) -> tuple[str, bool]:
        return self.tokens[self.place][:2] if self.place < len(self.tokens) else ("", True)

    def skip(self, sign: str) -> bool:
        """Step over a sign, if it comes next."""
        if self.peek() == (sign, True) and sign:
            self.place += 1
            return True
        return False

    def need(self, what: str) -> str:
        """Return the next name."""
        word, sign = self.peek()
        if sign:
            position = self.tokens[self.place][2] if word else len(self.text)
            raise self.error(position, f"{what} is expected where {word or 'the text ends'!r}")
        self.place += 1
        return word

    def graph(self) -> tuple[dict[str, Attributes], list[tuple[str, str]]]:
        word = self.need("digraph").lower()
        if word == "strict":
            word = self.need("digraph").lower()
        if word != "digraph":
            raise self.error(0, f"it begins with {word!r}, not with digraph")
        if not self.peek()[1]:
            self.place += 1
        if not self.skip("{"):
            raise self.error(len(self.text), "no { follows digraph")
        self.block()
        return self.nodes, list(self.arrows)

    def block(self) -> list[str]:
        """Read statements up to the bracket; return the nodes in them."""
        inside: list[str] = []
        self.depth += 1
        if self.depth > 50:
            raise self.error(0, "more than 50 subgraphs are within each other")
        while not self.skip("}"):
            if self.peek() == ("", True):
                raise self.error(len(self.text), "a bracket is not closed")
            if not (self.skip(";") or self.skip(",")):
                inside += self.statement()
        self.depth -= 1
        return inside

    def statement(self) -> list[str]:
        """Read a node, a chain of arrows, or a setting, which is ignored."""
        follows = [token[:2] for token in self.tokens[self.place + 1 : self.place + 2]]
        if self.peek()[0].lower() in _WORDS and follows == [("[", True)]:
            self.place += 1
            self.attributes()
            return []
        if follows == [("=", True)]:
            self.place += 2
            self.need("a value")
            return []
        before = self.group()
        chain, first, position = list(before), True, self.place
        while self.peek() in {("->", True), ("--", True)}:
            if self.peek()[0] == "--":
                raise self.error(self.tokens[self.place][2], "an edge has no direction")
            self.place, first = self.place + 1, False
            after = self.group()
            self.arrows.update(dict.fromkeys((a, b) for a in before for b in after))
            chain, before = chain + after, after
        given = self.attributes()
        if first:
            for name in before:
                self.nodes[name].update(given)
        elif given.get("dir", "forward") != "forward":
            raise self.error(self.tokens[position][2], f"an arrow has dir={given['dir']}")
        return chain

    def group(self) -> list[str]:
        """Read a node, or all nodes of a subgraph."""
        if self.peek() == ("subgraph", False):
            self.place += 1
            if not self.peek()[1]:
                self.place += 1
        if self.skip("{"):
            return self.block()
        name = self.need("a node")
        while self.skip(":"):
            self.need("a port")
        self.nodes.setdefault(name, {})
        return [name]

    def attributes(self) -> Attributes:
        given: Attributes = {}
        while self.skip("["):
            while not self.skip("]"):
                key = self.need("an attribute")
                given[key] = self.need("a value") if self.skip("=") else "true"
                while self.skip(",") or self.skip(";"):
                    pass
        return given
