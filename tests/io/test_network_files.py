"""Networks in the files of others: exact round trips, foreign readers, and foreign writers."""

import gzip
import re
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unnaive.exceptions import DataFileError
from unnaive.io import networks, store
from unnaive.io.networks import NetworkDescription, read_network, write_network

to_bif, of_bif = networks.to_bif, networks.of_bif
to_xmlbif, of_xmlbif = networks.to_xmlbif, networks.of_xmlbif


def table(*rows):
    return np.array(rows, dtype=np.float64)


def asia():
    variables = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    parents = ((), (0,), (), (2,), (2,), (3, 1), (5,), (4, 5))
    first = [0.01, 0.05, 0.01, 0.5, 0.1, 0.01, 0.6, 0.3, 1, 1, 1, 0, 0.98, 0.05, 0.9, 0.8, 0.7, 0.1]
    rows = table(*([p, 1 - p] for p in first))
    parts = np.split(rows, np.cumsum([2 ** len(above) for above in parents])[:-1])
    tables = tuple(t.reshape((2,) * (len(p) + 1)) for t, p in zip(parts, parents, strict=True))
    return NetworkDescription("asia", variables, (("yes", "no"),) * 8, parents, tables)


def earthquake():
    """Parents against the order of the file, three sizes, and numbers that need all digits."""
    random = np.random.default_rng(5)
    variables = ("Alarm", "MaryCalls", "Earthquake", "Burglary")
    states = (("silent", "short", "long"), ("True", "False"), ("0", "1", "2", "3"), ("-1", "1"))
    parents = ((3, 2), (0,), (), ())
    shapes = ((2, 4, 3), (3, 2), (4,), (2,))
    tables = tuple(random.dirichlet(np.ones(s[-1]), s[:-1]) for s in shapes)
    return NetworkDescription("earthquake", variables, states, parents, tables)


def hostile():
    """Names that are no words, and that are alike once they are made words."""
    variables = (
        "Größe <5",
        "a b",
        "a_b",
        "A_B",
        "table",
        "default1",
        "",
        ' "x"; }//',
        "Größe_lt_5",
    )
    text = "a,b¦(0, 10]¦a b¦yes¦Yes¦YES ¦2.5¦-2.5¦1e5¦probability¦|¦table¦x\ny¦x\ty¦x y¦1¦01¦+1¦"
    text += "¦ ¦  ¦/*¦*/¦//¦&amp;¦<b>¦🙂\x00\ud800-->"
    labels = text.split("¦")
    states = tuple(tuple(labels[place : place + 3]) for place in range(0, 27, 3))
    parents = ((), (0,), (1, 0), (2,), (3,), (4, 0), (5,), (6,), (7, 4))
    random = np.random.default_rng(1)
    tables = tuple(random.dirichlet(np.ones(3), (3,) * len(p)) for p in parents)
    return NetworkDescription("my variable\n}", variables, states, parents, tables)


NETWORKS = {"asia": asia(), "earthquake": earthquake(), "hostile": hostile()}
FORMATS = {"bif": (to_bif, of_bif), "xmlbif": (to_xmlbif, of_xmlbif)}
both = pytest.mark.parametrize("form", sorted(FORMATS))
every = pytest.mark.parametrize("key", sorted(NETWORKS))


def same(a, b):
    assert (a.name, a.variables, a.states, a.parents) == (b.name, b.variables, b.states, b.parents)
    for first, second in zip(a.tables, b.tables, strict=True):
        assert first.dtype == second.dtype == np.float64
        assert first.shape == second.shape
        assert (first == second).all()


WORDS = 'a A a_2 x table variable default1 1 -1 1e5 1f 2E 50% ä " // {} , | ; -- < a_b _ .5'
labels = st.text(max_size=5) | st.sampled_from([*WORDS.split(), "a b", "a  b"])


@st.composite
def descriptions(draw):
    variables = draw(st.lists(labels, min_size=1, max_size=5, unique=True))
    domains = st.lists(labels, min_size=1, max_size=4, unique=True).map(tuple)
    states = [draw(domains) for _ in variables]
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    parents, tables = [], []
    for place in range(len(variables)):
        parents.append(tuple(random.permutation(place)[: random.integers(0, 3)].tolist()))
        *sizes, own = [len(states[p]) for p in (*parents[-1], place)]
        tables.append(random.dirichlet(np.full(own, random.choice([0.01, 1])), sizes))
    return NetworkDescription(draw(labels), *map(tuple, (variables, states, parents, tables)))


@both
@settings(max_examples=150)
@given(network=descriptions())
def test_round_trip_is_exact(form, network):
    write, read = FORMATS[form]
    text = write(network)
    same(read(text), network)
    assert write(read(text)) == text


@both
@every
def test_round_trip_through_a_file(form, key, tmp_path):
    for ending in {"bif": [".bif", ".BIF"], "xmlbif": [".xml", ".xmlbif", ".bifxml"]}[form]:
        path = tmp_path / f"net{ending}"
        write_network(path, NETWORKS[key])
        same(read_network(path), NETWORKS[key])
    write_network(tmp_path / "net.txt", NETWORKS[key], format=form)
    same(read_network(str(tmp_path / "net.txt"), format=form), NETWORKS[key])


def test_bif_is_words_and_ascii():
    text = to_bif(hostile())
    assert text.isascii()
    bare = re.sub(r"//.*", "", text)
    names = re.findall(r"^variable (.*) \{$", bare, re.MULTILINE)
    assert len({name.lower() for name in names if re.fullmatch(r"[A-Za-z_]\w*", name)}) == 9
    assert "a_b" in names
    states = ", ".join(re.findall(r"\] \{ (.*) \};$", bare, re.MULTILINE)).split(", ")
    assert all(re.fullmatch(r"\w[\w.%?-]*|-?\d+", state) for state in states)
    assert not {"table", "probability"} & set(states)
    zero = NetworkDescription("", ("a",), (("x", "y"),), ((),), (table(-0.0, 1),))
    assert "-0" not in to_bif(zero) + to_xmlbif(zero)


def read_by_pgmpy(path):
    pgmpy = pytest.importorskip("pgmpy.readwrite")
    reader = (pgmpy.BIFReader if path.suffix == ".bif" else pgmpy.XMLBIFReader)(str(path))
    model = reader.get_model()
    assert model.check_model()
    tables = {cpd.variable: (cpd.variables, cpd.values) for cpd in model.get_cpds()}
    states = {name: tuple(labels) for name, labels in reader.variable_states.items()}
    return model, model.name, states, tables


def read_by_pyagrum(path):
    model = pytest.importorskip("pyagrum").loadBN(str(path))
    names = [model.variable(node).name() for node in sorted(model.nodes())]
    tables = {name: (model.cpt(name).names[::-1], model.cpt(name).toarray()) for name in names}
    states = {name: model.variable(name).labels() for name in names}
    return model, model.property("name"), states, tables


def check_foreign(network, found, tolerance):
    """Compare with what another program read, by position, as names may have changed."""
    *_, states, tables = found
    variables = list(states)
    assert len(variables) == len(network.variables)
    for place, name in enumerate(variables):
        assert len(set(states[name])) == len(states[name]) == len(network.states[place])
        axes, array = tables[name]
        order = [axes.index(variables[p]) for p in (*network.parents[place], place)]
        assert len(order) == len(axes)
        ours = np.transpose(array, order)
        np.testing.assert_allclose(ours, network.tables[place], rtol=0, atol=tolerance)


@pytest.mark.parametrize("ending", ["bif", "bifxml"])
@pytest.mark.parametrize("read", [read_by_pgmpy, read_by_pyagrum])
@every
def test_others_read_ours(read, ending, key, tmp_path):
    network, path = NETWORKS[key], tmp_path / f"net.{ending}"
    write_network(path, network)
    found = read(path)
    single = read is read_by_pyagrum and ending == "bif"  # it reads these numbers as 32 bits
    check_foreign(network, found, 1e-7 if single else 1e-9)
    if key != "hostile":
        assert found[1] == network.name
        assert (tuple(found[2]), tuple(found[2].values())) == (network.variables, network.states)


@pytest.mark.parametrize("key", ["child", "hailfinder"])  # of bnlearn's repository
def test_well_known_networks(key, tmp_path):
    folder = Path(pytest.importorskip("pgmpy").__file__).parent / "utils" / "example_models"
    if not (source := folder / f"{key}.bif.gz").exists():
        pytest.skip("pgmpy does not bring it along")
    (tmp_path / "net.bif").write_bytes(gzip.decompress(source.read_bytes()))
    network = read_network(tmp_path / "net.bif")  # of which we divide rounded rows
    check_foreign(network, read_by_pgmpy(tmp_path / "net.bif"), 5e-3)
    same(of_xmlbif(to_xmlbif(of_bif(to_bif(network)))), network)


@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(network=descriptions().filter(lambda n: min(map(len, n.states)) > 1))
def test_others_read_whatever_we_write(network, tmp_path):
    for ending in ("bif", "bifxml"):
        write_network(tmp_path / f"net.{ending}", network)
        check_foreign(network, read_by_pgmpy(tmp_path / f"net.{ending}"), 1e-9)
        check_foreign(network, read_by_pyagrum(tmp_path / f"net.{ending}"), 1e-7)


@pytest.mark.parametrize("ending", ["bif", "bifxml"])
@pytest.mark.parametrize("read", [read_by_pgmpy, read_by_pyagrum])
@pytest.mark.parametrize("key", ["asia", "earthquake"])
def test_we_read_what_others_write(key, read, ending, tmp_path):
    network, path = NETWORKS[key], tmp_path / f"net.{ending}"
    write_network(tmp_path / "ours.bifxml", network)
    model, tolerance = read(tmp_path / "ours.bifxml")[0], 0
    if read is read_by_pyagrum:
        agrum = pytest.importorskip("pyagrum")
        agrum.saveBN(model, str(path), allowModificationWhenSaving=True)  # of the label -1
        tolerance = 1e-5 if ending == "bifxml" else 0  # six digits is all it writes there
    else:
        pgmpy = pytest.importorskip("pgmpy.readwrite")
        (pgmpy.BIFWriter if ending == "bif" else pgmpy.XMLBIFWriter)(model).write(str(path))
    found = read_network(path)
    assert (found.name, sorted(found.variables)) == (network.name, sorted(network.variables))
    for place, name in enumerate(network.variables):  # pgmpy sorts them, pyAgrum turns parents
        own = found.variables.index(name)
        changed = tuple(label.replace("-", "_") for label in network.states[place])
        assert found.states[own] in {network.states[place], changed}
        above = [found.variables[p] for p in found.parents[own]]
        order = [above.index(network.variables[p]) for p in network.parents[place]]
        ours = np.transpose(found.tables[own], [*order, len(order)])
        np.testing.assert_allclose(ours, network.tables[place], rtol=0, atol=tolerance)


VARIABLES = """network test {}
variable a { type discrete [ 2 ] { x, y }; }
variable b { type discrete [ 3 ] { p, q, r }; }
probability ( a ) { table 0.25, 0.75; }
"""
GIVEN = table([0.1, 0.2, 0.7], [0.3, 0.4, 0.3])


@pytest.mark.parametrize(
    "text",
    [
        "probability ( b | a ) { (x) 0.1, 0.2, 0.7; (y) 0.3, 0.4, 0.3; }",
        "probability(b|a){(y)0.3 0.4 0.3;(x)0.1 0.2 0.7;}",
        "probability ( b a ) { table 0.1 0.3 0.2 0.4 0.7 0.3 ; }",
        'probability ("b", "a") { property "a = {;}" ; ( "x" ) .1, 2e-1, 7.E-1; (y) 3e-1 .4 .3; }',
        "probability ( b | a ) { default 0.3 0.4 0.3; (x) 0.1 0.2 0.7; }",
        "probability ( b | a ) { (x) 0.1 0.2 0.7; default 0.3 0.4 0.3; }",
        "probability // (a\r( b /* given\n*/ | a ) {\r\n\t(x)\n0.1,\n0.2,0.7\n;(y) 0.3,0.4,0.3;};",
        "probability ( b | a ) { (x) 0.1000004, 0.2, 0.7; (y) 0.3, 0.4, 0.3000000004; }",
    ],
)
def test_ways_to_write_probabilities(text):
    network = of_bif(VARIABLES + text)
    assert network.parents == ((), (0,))
    np.testing.assert_allclose(network.tables[1], GIVEN, atol=1e-6)
    np.testing.assert_allclose(network.tables[1].sum(axis=1), 1, atol=1e-9)


@pytest.mark.parametrize(
    ("domain", "states"),
    [
        ("[2] { x y }", ("x", "y")),
        ('[ 2 ] = { "x y"  "y, z" }', ("x y", "y, z")),
        ("[2]{<5,>=5}", ("<5", ">=5")),
        ("[ 2 ] { very  low, low }", ("very low", "low")),
        ("[ 1 ] { very low }", ("very low",)),
        ('[2] { "true""" }', ("true", "")),
        ("[3] { 5-12 12+ (x) }", ("5-12", "12+", "(x)")),
    ],
)
def test_ways_to_write_states(domain, states):
    rows = " ".join(["1", *"0" * (len(states) - 1)])
    text = (
        f"variable my var {{ type discrete {domain}; }} probability ( my var ) {{ table {rows}; }}"
    )
    assert of_bif(text).states == (states,)


def test_rounded_rows_are_divided():
    network = of_bif(GOOD.replace("0.1, 0.2, 0.7", "0.33, 0.33, 0.33"))
    np.testing.assert_allclose(network.tables[1][0], 1 / 3)


XML = """<?xml version="1.0" encoding="{encoding}"?>
<!-- DTD for the XMLBIF 0.3 format -->
<!DOCTYPE BIF [
<!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED>
<!ELEMENT VARIABLE ( NAME, ( OUTCOME |  PROPERTY )* ) >
<!ATTLIST VARIABLE TYPE (nature|decision|utility) "nature">
]>
<BIF VERSION="0.3"><NETWORK><NAME>Hund</NAME><PROPERTY>x</PROPERTY>
<VARIABLE><NAME> a  &lt;&#228; </NAME><OUTCOME>x</OUTCOME><OUTCOME><![CDATA[&y]]></OUTCOME>
</VARIABLE>
<VARIABLE TYPE="nature"><NAME>b</NAME><PROPERTY>position = (1,2)</PROPERTY>
<OUTCOME>p</OUTCOME><OUTCOME>q</OUTCOME><OUTCOME>ö</OUTCOME></VARIABLE>
<DEFINITION><FOR>b</FOR><GIVEN>a &lt;ä</GIVEN>
<TABLE> 0.1 0.2 0.7 <!-- x --> 0.3 0.4 0.3 </TABLE></DEFINITION>
<DEFINITION><FOR>a &lt;ä</FOR><TABLE>0.25 0.75</TABLE></DEFINITION>
</NETWORK></BIF>"""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1252"])
def test_xml_of_others(encoding, tmp_path):
    text = XML.replace("{encoding}", encoding)
    (tmp_path / "a.xml").write_bytes(text.encode(encoding))
    for network in (read_network(tmp_path / "a.xml"), of_xmlbif(text)):
        assert (network.variables, network.parents) == (("a <ä", "b"), ((), (0,)))
        assert network.states == (("x", "&y"), ("p", "q", "ö"))
        assert (network.tables[1] == GIVEN).all()


def test_byte_order_mark_and_other_encodings(tmp_path):
    (tmp_path / "a.bif").write_bytes(b"\xef\xbb\xbf" + to_bif(asia()).encode())
    same(read_network(tmp_path / "a.bif"), asia())
    (tmp_path / "a.bif").write_bytes(to_bif(asia()).replace("tub", "tüb").encode("latin-1"))
    with pytest.raises(DataFileError, match=r"a.bif, line 6: the byte 0xfc is not UTF-8; save"):
        read_network(tmp_path / "a.bif")


ROWS = "probability ( b | a ) { (x) 0.1, 0.2, 0.7; (y) 0.3, 0.4, 0.3; }"
GOOD = VARIABLES + ROWS
NAMES = "// unnaive-names "
BAD = [  # what to put for what, in a good file, and how it is refused
    (GOOD, "", r"^f has no variable; is it a network\?$"),
    (GOOD, "<BIF>", r"line 1: this is XML, not BIF; let its name end in .xml"),
    (ROWS, "", r"^f: variable 'b' has no probabilities; add them"),
    (ROWS, ROWS + "hello", r"line 5: found 'hello'; expected one of network"),
    (ROWS, ROWS[:-1], r"line 5: the file ends within a block; it is cut off"),
    (ROWS, ROWS[:-3], r"line 5: no ; follows; the file may be cut off"),
    (ROWS, ROWS + ROWS, r"variable 'b' has its probabilities twice"),
    (ROWS, "probability b { table 1 0 0; }", r"found 'b' after probability; write"),
    (ROWS, "probability ( | ) { table 1 0 0; }", r"found '\( \| \)' after probability; write"),
    ("| a", "| A1", r"line 5: variable 'A1' is not declared; declare it"),
    ("( a )", "( ab )", r"line 4: variable 'ab' is not declared; did you mean '[ab]'\?"),
    ("| a", "| a, a", r"'b' name a variable twice"),
    ("0.2,", "", r"line 5: variable 'b' has 2 numbers here but needs 3"),
    ("0.2,", "0.2, 0,", r"has more than 3 numbers here"),
    ("0.2,", "0.2x,", r"'b' has '0.2x', which is not a number; write"),
    ("0.2,", "nan,", r"'b' has 'nan', which is not a number"),
    ("0.2,", "1e999,", r"'b' has the probability 1e999; write"),
    ("0.2,", "-0.2,", r"'b' has the probability -0.2; .*negative"),
    ("0.2,", "0.9,", r"line 5: the probabilities of variable 'b' given a = x sum to 1.7; make"),
    ("(y)", "(x)", r"'b' has the same row twice; remove"),
    ("(y)", "(z)", r"has a row for state 'z'; the states of that parent are x, y"),
    ("(y)", "(x, y)", r"does not begin with 1 states"),
    ("(y) 0.3, 0.4, 0.3;", "table 1 1 0 0 0 0;", r"has the same row twice; remove"),
    ("(y) 0.3, 0.4, 0.3;", "", r"'b' has no probabilities for \(y\); add the row, or a default"),
    (ROWS[24:-2], "table 0.1 0.2 0.7 0.3 0.4 0.3;", r"'b' is in the order of XMLBIF; in BIF"),
    ("(x)", "rows (x)", r"found 'rows \(x\) .*one of \(, default, property, table, }"),
    ("[ 3 ]", "[ 4 ]", r"line 3: variable 'b' does not have the 4 states that it declares; count"),
    ("[ 3 ]", "[ 999999999 ]", r"has type 'discrete \[ 999999999 \]'; only"),
    ("q, r", "q, q", r"line 3: variable 'b' has a state twice; list"),
    ("variable b", "variable a", r"line 3: variable 'a' is declared twice"),
    ("variable b", "variable", r"line 3: a variable has no name; give"),
    ("type discrete [ 2 ] { x, y };", "", r"variable 'a' has no states"),
    ("{ x, y", '{ "x, y', r"line 2: '\"x, y }; }' is not closed; add \" where"),
    (ROWS, "/* " + ROWS, r"line 5: '/\* .*…' is not closed; add \*/"),
    ("0.75", "0.73", r"line 4: the probabilities of variable 'a' sum to 0.98; make"),
    (ROWS, ROWS + NAMES + "[" * 10**5, r"line 5: a comment that holds names was altered"),
    (ROWS, ROWS + NAMES + '{"variable": "a", "name": "b"}', r"^f: the network has variable 'b' 2"),
    (ROWS, ROWS + NAMES + '{"variable": "a", "states": {"x": "y"}}', r"'a' has state 'y' 2 times"),
]


ELEMENT = "<!ELEMENT BIF ( NETWORK )*>"
BOMB = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
BAD_XML = [
    ("<?xml", "<", r"line 1: this is not XML, or it is cut off \(not well-formed.*; write"),
    ("<?xml", "network a {}", r"line 1: this is not XML, or it is cut off \(syntax error\)"),
    ("</BIF>", "", r"line 16: this is not XML, or it is cut off"),
    ("BIF", "smile", r"<SMILE> with 1 <NETWORK> is the outermost element; XMLBIF"),
    ("<NETWORK>", "<NETWORK></NETWORK><NETWORK>", r"<BIF> with 2 <NETWORK>"),
    (ELEMENT, '<!ENTITY a0 "b">' + BOMB, r"declares the entity 'a0'"),
    (ELEMENT, '<!ENTITY a SYSTEM "/etc/passwd">', r"line 4: .* entity 'a'; no"),
    (ELEMENT, '<!ENTITY % a SYSTEM "http://a/b"> %a;', r"the entity 'a'; no"),
    ("<!DOCTYPE BIF [", '<!DOCTYPE BIF SYSTEM "file:///etc/passwd" [', r"external, 'file:"),
    ("<!DOCTYPE BIF [", '<!DOCTYPE BIF PUBLIC "a" "http://b" [', r"external, 'http://b'"),
    ('"nature">\n]', f'"{"x" * 1000}">\n]', r"too long attributes: 'TYPE'"),
    ("<PROPERTY>x", "<PROPERTY>&a;", r"line 8: this is not XML, or it is cut off \(undefined ent"),
    ("<PROPERTY>x</PROPERTY>", "<a>" * 30 + "</a>" * 30, r"elements, or 20 within each other"),
    ('TYPE="nature"', 'TYPE="decision"', r"line 11: variable 'b' is of type decision; only"),
    ("<NAME>b</NAME>", "", r"line 11: a <VARIABLE> has 0 <NAME>; it must"),
    ("<FOR>b</FOR>", "<FOR>c</FOR>", r"line 13: variable 'c' is not declared"),
    ("<DEFINITION><FOR>a &lt;ä", "<DEFINITION><FOR>b", r"'b' has its probabilities twice"),
    ("0.1 0.2", "0,1 0.2", r"line 14: variable 'b' has '0,1', which is not a number; .*point"),
    ("0.1 0.2", "0.2", r"line 14: variable 'b' has 5 numbers here but needs 6"),
    ("<NAME>Hund", "<!-- unnaive-names {} --", r"not well-formed"),
    ("<NAME>Hund", '<!-- unnaive-names {"states": 1} --><NAME>', r"line 8: a comment that holds"),
]


CASES = [("bif", *case) for case in BAD] + [("xmlbif", *case) for case in BAD_XML]


@pytest.mark.parametrize(("form", "old", "new", "message"), CASES, ids=range(len(CASES)))
def test_bad_files(form, old, new, message, tmp_path):
    good = GOOD if form == "bif" else XML.replace("{encoding}", "utf-8")
    text = good.replace(old, new)
    assert text != good
    with pytest.raises(DataFileError, match=message):
        FORMATS[form][1](text, "f")
    (tmp_path / "f").write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError, match=message.replace("^", "")):
        read_network(tmp_path / "f", form)


def test_bad_encodings(tmp_path):
    for encoding in ("rot13", "no-such", "utf-7", "idna", "utf-16"):
        (tmp_path / "f.xml").write_bytes(XML.replace("{encoding}", encoding).encode())
        with pytest.raises(DataFileError, match=r"f.xml, line 1: .*encoding"):
            read_network(tmp_path / "f.xml")
    with pytest.raises(DataFileError, match="encoding"):
        of_xmlbif("<BIF>\ud800</BIF>")


@pytest.mark.long
@both
@settings(max_examples=200)
@given(start=st.floats(0, 1, exclude_max=True), length=st.integers(0, 40), piece=labels)
def test_altered_files_are_read_or_refused_and_cut_off_ones_refused(form, start, length, piece):
    write, read = FORMATS[form]
    text = write(hostile()).rstrip()
    place = int(start * len(text))
    with suppress(DataFileError):
        read(text[:place] + piece + text[place + length :])
    with pytest.raises(DataFileError):
        read(text[:place])


HUGE = [piece * 300_000 for piece in ("/*", '"a"', "(", "{", "variable{", ";", "a,", "<a>")]
HUGE += ["//\n" * 300_000, "variable a { type discrete [ 9 ] {" + "a," * 500_000]
HUGE += [GOOD.replace("0.2", "0" * 10**6 + "x"), GOOD.replace("| a", "| " + "a " * 300_000)]


@pytest.mark.parametrize("text", HUGE, ids=range(len(HUGE)))
def test_huge_files_do_not_hang(text):
    start = time.process_time()
    for read in (of_bif, of_xmlbif):
        with pytest.raises(DataFileError):
            read(text)
    assert time.process_time() - start < 5


def test_tables_that_do_not_fit():
    names = [f"v{i}" for i in range(70)]
    text = "".join(f"variable {n} {{ type discrete [ 3 ] {{ x, y, z }}; }}\n" for n in names)
    for count in (20, 69):
        block = f"probability ( v0 | {', '.join(names[1 : count + 1])} ) {{ default 1 0 0; }}"
        with pytest.raises(DataFileError, match=rf"'v0' has {count} parents and too large a table"):
            of_bif(text + block)


def test_files_that_are_none(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match=r"no such file; check"):
        read_network(tmp_path / "a.bif")
    with pytest.raises(DataFileError, match=r"is a folder or a device"):
        read_network(tmp_path)
    (tmp_path / "a.net").write_text(to_bif(asia()))
    for call in (read_network, lambda path: write_network(path, asia())):
        with pytest.raises(DataFileError, match=r"a.net has no ending .* end in one of .bif, .xml"):
            call(tmp_path / "a.net")
    with pytest.raises(ValueError, match=r"format is 'net'; pass 'bif' or 'xmlbif'"):
        read_network(tmp_path / "a.net", "net")
    monkeypatch.setattr(networks, "LARGEST", 100)
    with pytest.raises(DataFileError, match=r"has more than 100 bytes, .* is it a network"):
        read_network(tmp_path / "a.net", format="bif")
    with pytest.raises(ValueError, match=r"bytes, and files may have 100; merge states"):
        write_network(tmp_path / "b.bif", asia())


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.bif"
    write_network(path, asia())

    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device; an older file is untouched"):
        write_network(path, earthquake())
    same(read_network(path), asia())
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variables": ("a",)}, r"are 1, 2, 2 and 2; give one of each"),
        ({"variables": ("a", "a")}, r"the network has variable 'a' 2 times; rename"),
        ({"variables": ("a", 1)}, r"has variables \('a', 1\); give at least one, and strings"),
        ({"states": (("x", "y"), ())}, r"'b' has states \(\); give at least one"),
        ({"parents": ((), ("a",))}, r"'b' has parents \('a',\); give the positions"),
        ({"parents": ((), (1,))}, r"'b' has parents \(1,\); give the positions of other"),
        ({"tables": (table(0.5, 0.5), GIVEN.T)}, r"'b' has shape \(3, 2\); .* need \(2, 3\)"),
        ({"tables": (table(0.5, 0.6), GIVEN)}, r"'a' has rows that are not probabilities; divide"),
        ({"tables": (table(np.nan, 1), GIVEN)}, r"'a' has rows that are not probabilities"),
    ],
)
def test_bad_descriptions(change, message):
    with pytest.raises(ValueError, match=message):
        replace(of_bif(GOOD), **change)
