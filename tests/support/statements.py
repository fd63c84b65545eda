"""The statements of a module, for tests that read the source."""

PLACES = ("body", "orelse", "finalbody", "handlers", "cases")


def statements(tree):
    """Yield the module and all its statements; `ast.walk` visits every expression, too."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for place in PLACES:
            waiting += getattr(node, place, ())
