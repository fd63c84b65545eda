"""Drawings of structures: they fit a page, nothing overlaps, and titles say what is drawn."""

import re
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import unnaive
from unnaive import PHNB, KNaiveBayes
from unnaive.datasets import load_wdbc
from unnaive.explain import plot_structure
from unnaive.explain.structure import DrawnGraph
from unnaive.structure.dag import DAG
from unnaive.structure.draw import tree_positions
from unnaive.structure.graph import ClassGraphs, FamilyGraph, ParentGraph
from unnaive.structure.groups import GroupGraph
from unnaive.structure.layout import layered
from unnaive.structure.network import NetworkGraph
from unnaive.structure.parents import HiddenParents, SuperParents, bag_weights
from unnaive.structure.picture import PAGE, Label, Line, Picture, _line, shortened

WORDS = ["age", "systolic_blood_pressure", "возраст_пациента", "température", "x", "a $b$ c"]


def named(d):
    return tuple(f"{WORDS[i % len(WORDS)]}_{i}" for i in range(d))


def tree(d, seed=0):
    random = np.random.default_rng(seed)
    parents = np.array([-1, *(random.integers(0, i) for i in range(1, d))])
    return ParentGraph(named(d), "pneumonia", parents, random.random(d) * (parents >= 0))


def families(d):
    random = np.random.default_rng(1)
    rows = [(i, *random.choice(i, min(i, 2), replace=False).tolist()) for i in range(d)]
    return FamilyGraph(named(d), "pneumonia", tuple(rows))


def network(d):
    parents = [tuple(family[1:]) for family in families(d).families]
    parents[0] = (d,)  # the class has one child, and a parent
    return NetworkGraph((*named(d), "pneumonia"), (*parents, ()))


def bags(d, threshold):
    information = np.random.default_rng(2).random((d, d))
    information = information + information.T
    members = (information > threshold) & ~np.eye(d, dtype=bool)
    weights = bag_weights(information, members)
    return HiddenParents(named(d), "pneumonia", members, weights, threshold)


def supers(d):
    weights = np.random.default_rng(3).random(d)
    return SuperParents(named(d), "pneumonia", weights / weights.sum())


def classes(d, k):
    return ClassGraphs(tuple(tree(d, seed) for seed in range(k)))


def groups(d):
    return GroupGraph(
        named(d), "pneumonia", ((0, 3, 5), (1, 2), (4,), *((i,) for i in range(6, d)))
    )


STRUCTURES = {
    **{f"tree {d}": tree(d) for d in (8, 30, 70, 150)},
    **{f"families {d}": families(d) for d in (8, 30, 70)},
    **{f"network {d}": network(d) for d in (8, 30, 70)},
    **{f"all bags {d}": bags(d, 0.0) for d in (8, 30, 70)},
    **{f"few bags {d}": bags(d, 1.7) for d in (8, 30, 70)},
    **{f"super-parents {d}": supers(d) for d in (8, 30, 70)},
    **{f"{k} classes {d}": classes(d, k) for d, k in ((8, 2), (30, 2), (70, 2), (8, 24), (70, 24))},
    **{f"groups {d}": groups(d) for d in (8, 30, 70)},
}


def drawn(ax):
    """Draw all of it, and return the boxes of its texts in pixels."""
    canvas = FigureCanvasAgg(ax.figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    legend = ax.get_legend()
    others = [] if legend is None else legend.get_texts()
    return [text.get_window_extent(renderer) for text in (*ax.texts, ax.title, *others)]


def edges_of(ax):
    return [patch for patch in ax.patches if patch.get_gid() == "edge"]


@pytest.mark.long
@pytest.mark.parametrize("kind", STRUCTURES)
def test_a_figure_fits_a_page_and_has_all_its_text(kind):
    ax = STRUCTURES[kind].plot()
    width, height = ax.figure.get_size_inches()
    assert width <= PAGE[0] + 0.01
    assert height <= PAGE[1] + 1.0  # title and legend
    whole = ax.figure.bbox
    for box in drawn(ax):
        assert whole.x0 - 1 <= box.x0 <= box.x1 <= whole.x1 + 1
        assert whole.y0 - 1 <= box.y0 <= box.y1 <= whole.y1 + 1


@pytest.mark.parametrize(
    "kind",
    [
        "tree 70",
        pytest.param("families 70", marks=pytest.mark.long),
        "network 30",
        pytest.param("2 classes 30", marks=pytest.mark.long),
        "groups 70",
    ],
)
def test_names_do_not_overlap(kind):
    ax = STRUCTURES[kind].plot()
    drawn(ax)
    boxes = [text.get_bbox_patch().get_window_extent() for text in ax.texts]
    for one, other in combinations(boxes, 2):
        apart = one.x1 <= other.x0 + 1 or other.x1 <= one.x0 + 1
        assert apart or one.y1 <= other.y0 + 1 or other.y1 <= one.y0 + 1


def test_a_picture_within_a_picture_is_moved_as_a_whole():
    inner = Picture(2.0, -3.0, [Label("a", (0.5, -1.0))], [Line([(0.5, -1.0), (1.5, -2.0)], 1.0)])
    inner.frames.append((0.25, -2.5, 1.5, 2.0, "white"))
    outer = Picture()
    outer.put(inner, 4.0, -8.0)
    assert outer.labels == [Label("a", (4.5, -9.0))]
    assert outer.lines == [Line([(4.5, -9.0), (5.5, -10.0)], 1.0)]
    assert outer.frames == [(4.25, -10.5, 1.5, 2.0, "white")]


@pytest.mark.parametrize(
    ("curve", "between"),
    [
        ("layers", [(1.0, -4.0), (7.0, -4.0)]),
        ("columns", [(4.0, -1.0), (4.0, -7.0)]),
        ("straight", [(3.0, -3.0), (5.0, -5.0)]),
    ],
)
def test_an_edge_leaves_and_arrives_as_its_curve_says(curve, between):
    ax = Figure().subplots()
    _line(ax, Line([(1.0, -1.0), (7.0, -7.0)], 0.5, arrow=False, curve=curve), 1.0)
    [drawn_line] = ax.patches
    points = drawn_line._path_original.vertices
    np.testing.assert_allclose(points, [(1.0, -1.0), *between, (7.0, -7.0)])


@pytest.mark.parametrize("graph", [families(30), families(70), tree(70)], ids=repr)
@pytest.mark.parametrize("most", [None, 12])
def test_no_edge_runs_through_a_node(graph, most):
    sizes = {name: 0.5 + 0.01 * len(name) for name in graph.names}
    ends = [(edge[0], edge[1]) for edge in graph.edges]
    found = layered(graph.names, ends, sizes, gap=0.1, most=most)
    assert set(found.routes) == set(ends)
    for parent, child in ends:
        assert found.places[parent][0] < found.places[child][0]
        for layer, across in found.routes[parent, child][1:-1]:
            for name, (other, position) in found.places.items():
                assert other != layer or abs(position - across) > sizes[name] / 2


def test_cycles_are_drawn():
    graph = ParentGraph(("a", "b", "c"), "y", np.array([1, 2, 0]), np.ones(3))
    assert len(edges_of(graph.plot())) == 3


@pytest.mark.long
def test_titles_say_how_many_edges_are_drawn():
    graph = tree(70)
    ax = graph.plot(max_edges=20)
    assert ax.get_title() == "the strongest 20 of 69 edges"
    assert len(edges_of(ax)) == 20
    assert len(edges_of(graph.plot())) == 69
    ax = bags(30, 0.0).plot(max_edges=10)
    assert ax.get_title() == "the strongest 10 of 435 dependences"
    assert len(edges_of(ax)) == 10
    ax = supers(70).plot()
    assert ax.get_title().startswith("the heaviest 24 of 70 super-parents")
    assert len(edges_of(ax)) == 24
    assert "24 classes together" in classes(8, 24).plot().get_title()
    assert "bags" in bags(30, 1.7).plot().get_title()


def test_columns_are_placed_below_their_first_parents():
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("b", "e")]
    names = ("a", "b", "c", "d", "e")
    placed = tree_positions(DrawnGraph(names, "y", edges))
    assert {name: -y for name, (_, y) in placed.items()} == dict(
        zip(names, (1, 2, 2, 3, 3), strict=True)
    )
    assert [placed[name][0] for name in "dec"] == [0.0, 1.0, 2.0]  # leaves, side by side
    assert placed["b"][0] == 0.5
    assert placed["a"][0] == 1.25
    circle = tree_positions(DrawnGraph(names, "y", [("a", "b"), ("b", "c"), ("c", "a")]))
    assert [circle[name][1] for name in "abc"] == [-1.0, -2.0, -3.0]


def test_super_parents_without_weight_are_not_drawn():
    names = named(4)
    ax = SuperParents(names, "pneumonia", np.array([0.5, 0.0, 0.3, 0.2])).plot()
    title = ax.get_title().replace("\n", " ")
    assert title == "the heaviest 3 of 4 super-parents, each a parent of all other columns"
    assert len(edges_of(ax)) == 3
    assert {text.get_text() for text in ax.texts} == {names[0], *names[2:], "pneumonia"}
    widths = [edge.get_linewidth() for edge in edges_of(ax)]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 3
    ax = SuperParents(names, "pneumonia", np.full(4, 0.25)).plot()
    assert ax.get_title().replace("\n", " ").endswith("all other columns, all with the weight 0.25")
    assert len({edge.get_linewidth() for edge in edges_of(ax)}) == 1


def test_edges_between_columns_have_arrowheads():
    for graph in (tree(8), families(8), network(8)):
        assert {edge.get_arrowstyle().__class__.__name__ for edge in edges_of(graph.plot())} == {
            "CurveFilledB"
        }


def test_drawing_into_given_axes_changes_no_size():
    figure = Figure(figsize=(8, 4))
    axes = figure.subplots(1, 2)
    assert tree(70).plot(axes[0]) is axes[0]
    assert tuple(figure.get_size_inches()) == (8, 4)
    sizes = {text.get_fontsize() for text in axes[0].texts}
    assert max(sizes) < 9


@pytest.mark.long
def test_pyplot_knows_a_figure_only_if_it_is_in_use():
    alone = (
        "import sys, numpy as np\n"
        "from unnaive.structure import independent\n"
        "independent(('a', 'b'), 'y').plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt\n"
        "ax = independent(('a', 'b'), 'y').plot()\n"
        "assert plt.gcf() is ax.figure and plt.get_fignums() == [1]\n"
        "figure, mine = plt.subplots()\n"
        "assert independent(('a', 'b'), 'y').plot(mine) is mine and plt.get_fignums() == [1, 2]\n"
    )
    notebook = (
        "import sys, types; sys.modules['ipykernel'] = types.ModuleType('ipykernel')\n"
        "import matplotlib; matplotlib.use('agg')\n"
        "from unnaive.structure import independent\n"
        "ax = independent(('a', 'b'), 'y').plot()\n"
        "assert sys.modules['matplotlib.pyplot'].gcf() is ax.figure\n"
    )
    for program in (alone, notebook):
        subprocess.run([sys.executable, "-c", program], check=True)


def test_names_are_shortened_in_the_middle():
    assert shortened("systolic_blood_pressure_2") == "systolic_bl…sure_2"
    assert shortened("体温" * 9) == "体温体温体…温体温"  # wide letters count as two
    assert shortened("short") == "short"


def test_structures_have_a_short_repr_and_a_table():
    assert repr(tree(8)) == "ParentGraph(8 columns, 7 edges)"
    assert repr(network(8)) == "NetworkGraph(8 columns, 14 edges)"
    for graph in STRUCTURES.values():
        assert len(repr(graph)) < 60
        assert graph._repr_html_().startswith("<table><caption ")


def test_a_network_has_a_short_repr_and_a_table():
    dag = DAG(("a", "b"), ((), (0,)))
    network = unnaive.Network(dag, (("no", "yes"),) * 2, ([0.5, 0.5], [[0.5, 0.5]] * 2))
    assert repr(network) == "Network(2 nodes, 1 edges)"
    shown = re.sub(r' style="[^"]*"', "", network._repr_html_())
    assert "<td>b</td><td>a</td><td>no, yes</td>" in shown


@pytest.mark.parametrize("n_columns", [3, 10])
def test_the_naive_set_is_marked(n_columns):
    data = load_wdbc()
    model = KNaiveBayes(k=2, var_smoothing=0).fit(data.X[:, :n_columns], data.y)
    ax = plot_structure(model)
    naive = set(model.naive_columns_)
    bold = {text.get_text() for text in ax.texts if text.get_weight() == "bold"}
    if n_columns == 10:  # around a circle
        assert bold == naive
        assert "bold type are treated as independent" in " ".join(ax.get_title().split())
    else:  # in layers
        told = [text.get_text() for text in ax.get_legend().get_texts()]
        assert "treated as independent" in told


def test_columns_without_a_bag_have_one():
    random = np.random.default_rng(0)
    a = random.integers(2, size=200)
    X = np.column_stack([a, a ^ (random.random(200) < 0.1), *random.integers(2, size=(3, 200))])
    model = PHNB(discretize=None).fit(X, random.integers(2, size=200))
    ax = plot_structure(model)
    bold = {text.get_text() for text in ax.texts if text.get_weight() == "bold"}
    assert "naive Bayes" in bold
    assert "in the bag of naive Bayes" in " ".join(ax.get_title().split())
