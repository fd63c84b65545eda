"""Graphs in Graphviz' language."""

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unnaive.exceptions import UnnaiveError
from unnaive.structure.dag import DAG
from unnaive.structure.dot import read_dot

names = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=6, unique=True
)


@given(names, st.data())
@settings(max_examples=25)
def test_what_is_written_is_read(names, data):
    pairs = [(i, j) for j in range(len(names)) for i in range(j)]
    arrows = data.draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    dag = DAG.of_edges(names, arrows)
    assert DAG.of_dot(dag.to_dot()) == dag
    assert DAG.of_networkx(dag.to_networkx()) == dag


@pytest.mark.parametrize(
    "text",
    [
        "digraph { a -> b; b -> c; }",
        'strict digraph "my graph" { a -> b -> c }',
        "digraph g {\n# a line\n node [shape=box, color=red]; rankdir = LR\n a->b // why\n b->c }",
        "digraph { subgraph cluster_0 { a; b; label=top } a:n -> b:s; b -> {c} [label=x; w=2] }",
        "digraph { a [label=1 shape=box]; b; c; a -> b [dir=forward] /* and */; b -> c }",
        "DIGRAPH { a b c a -> b b -> c }",
    ],
)
def test_ways_to_write_a_chain(text):
    assert DAG.of_dot(text) == DAG.of_edges(["a", "b", "c"], [(0, 1), (1, 2)])


def test_sets_of_nodes():
    assert DAG.of_dot("digraph { {a b} -> {c; d} }").edges == [
        ("a", "c"),
        ("a", "d"),
        ("b", "c"),
        ("b", "d"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph { a -- b }", "begins with 'graph'"),
        ("digraph { a -- b }", "no direction"),
        ("digraph { a -> b [dir=none] }", "dir=none"),
        ("digraph { a -> ", "expected where 'the text ends'"),
        ("digraph { a [x=", "expected where"),
        ("digraph a", "no { follows"),
        ("digraph { a -> b", "not closed"),
        ('digraph {\n a -> "b }', "line 2: found"),
        ("", "expected where 'the text ends'"),
        ("digraph " + "{" * 60, "more than 50"),
        ("digraph { a -> a }", "cycle"),
    ],
)
def test_what_is_no_directed_graph(text, message):
    with pytest.raises(UnnaiveError, match=message):
        DAG.of_dot(text)


@given(st.text('digraph{}[];,=:->"\\ab \n/*#', max_size=60))
@settings(max_examples=40)
def test_any_text_is_read_or_refused(text):
    try:
        read_dot("digraph {" + text)
    except UnnaiveError as error:
        assert "DOT" in str(error)  # noqa: PT017 - most texts are refused


def test_graphs_of_networkx():
    graph = nx.DiGraph([(1, 2), (2, "c")])
    assert DAG.of_networkx(graph).edges == [("1", "2"), ("2", "c")]
    with pytest.raises(UnnaiveError, match="not a directed graph"):
        DAG.of_networkx(nx.Graph([(1, 2)]))
