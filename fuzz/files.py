"""Files with changed bytes: each must be refused in one line, or be read as something whole.

The samples are small files of every format. Bytes, lines, numbers and words of the format are
changed. Inside containers (gzip, workbooks, Parquet footers, model files), the change is also made
before the container is written, so that its own checksums are right.
"""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import openpyxl
import pyarrow as pa
from pyarrow import parquet

import unnaive
from fuzz.mutate import changed
from fuzz.run import check_message
from unnaive.exceptions import UnnaiveError
from unnaive.io import networks
from unnaive.io.files import read
from unnaive.io.parts import open_part
from unnaive.schema import CategoricalColumn, NumericColumn, Schema
from unnaive.schema.document import load_schema, save_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fuzz.run import Subject
    from unnaive.io.frames import Frame

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "models"
ROWS = [
    ("age", "smoker", "town, street", "weight", "ill"),
    (61, "no", 'Bern "old"', 71.5, "yes"),
    (44, "yes", "Zürich", None, "no"),
    (None, "ex", "?", 1333.25, "yes"),
    (38, "no", "Oslo; Norge", 68.0, "no"),
    (70, "no", "Bern", 80.5, "yes"),
]
FIT = 16  # one in so many files is also counted, and a model is fitted to it
CSV_WORDS = (b'"', b'""', b",", b";", b"\t", b"|", b"NA", b"true", b"1.333,26", b"1 333", b"1e5")
ARFF_WORDS = (
    b"@relation", b"@attribute", b"@data", b"numeric", b"string", b"date", b"{a,b}", b"{", b"}",
    b"?", b"%", b"{0 a, 2 b}", b"'", b"\\'", b"relational", b"@end", b"@attribute x {a,a}\n",
)  # fmt: skip
BIF_WORDS = (
    b"network", b"variable", b"probability", b"table", b"default", b"type discrete [ 2 ]", b"property",
    b"{", b"}", b"(", b"|", b";", b"//", b"/*", b"*/", b"0.5", b"// unnaive-names {", b"burglary",
)  # fmt: skip
XML_WORDS = (
    b"<VARIABLE>", b"</VARIABLE>", b"<OUTCOME>", b"<GIVEN>", b"<FOR>", b"<TABLE>", b"</TABLE>", b"&lt;",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?xml ", b"&#0;",
)  # fmt: skip
JSON_WORDS = (
    b"null", b"true", b"{}", b"[]", b"[[", b'"', b'"categories"', b'"edges"', b'"name"', b"NaN", b"\\u0000",
    b"\\ud800", b"-Infinity", b'{"a":', b"[" * 2000, b'"classes"', b'"target"', b'"sha256"', b":", b",",
)  # fmt: skip


def judge_frame(frame: Frame) -> None:
    """Check that a frame is whole."""
    assert len(set(frame.names)) == len(frame.names) == len(frame.columns), "names differ"
    for number in range(len(frame.names)):
        column = frame.column(number)
        assert len(column.values) == frame.n_rows, f"length of {column.name!r}"
        if column.categories is not None and frame.n_rows:
            assert column.values.min() >= -1, "codes below -1"
            assert column.values.max() < len(column.categories), "codes beyond the categories"


def judge_data(path: Path, seed: int) -> None:
    """Read a data file; one in so many in threads and as a whole, and then fit a model to it."""
    if seed % FIT:
        part = open_part(path)
        for piece in part.frames(100, {}, threads=False):
            if not isinstance(piece, str):
                judge_frame(piece)
        part.notes()
        return
    frame = read(path)
    judge_frame(frame)
    if frame.n_rows < 2 or len(frame.names) < 2:
        return
    counts = unnaive.count(path, target=frame.names[-1])
    model = unnaive.NaiveBayes().fit_counts(counts)
    chances = model.predict_proba([{}])
    assert chances.shape == (1, len(counts.schema.classes)), "wrong classes"
    assert np.isfinite(chances).all(), "probabilities that are not finite"


def judge_network(path: Path, _: int) -> None:
    """Read a network; its tables must be probabilities."""
    network = networks.read_network(path)
    for table in network.tables:
        assert np.isfinite(table).all(), "probabilities that are not finite"
        assert np.allclose(table.sum(axis=-1), 1.0), "probabilities that do not sum to 1"


def judge_schema(path: Path, _: int) -> None:
    """Read a schema and encode a row with it."""
    schema = load_schema(path)
    repr(schema)
    schema.encode(unnaive.io.frames.to_frame([dict.fromkeys(schema.names)]))


def judge_counts(path: Path, _: int) -> None:
    """Read counts; since their checksums are wrong now, only the same counts may be read."""
    unnaive.JointCounts.load(path).check()


def judge_model(path: Path, _: int) -> None:
    """Read a model and ask it."""
    chances = unnaive.load(path).predict_proba([{}])
    assert np.isfinite(chances).all(), "probabilities that are not finite"


def tried(
    path: Path,
    name: str,
    make: Callable[[random.Random], bytes],
    judge: Callable[[Path, int], None],
    seed: int,
) -> str:
    """Write one changed file and judge how it is read."""
    path.write_bytes(make(random.Random(f"{name} {seed}")))
    try:
        judge(path, seed)
    except UnnaiveError as error:
        check_message(error)
    except AssertionError as error:
        return f"{error}: of a file that was accepted"
    return ""


def direct(samples: Sequence[bytes], words: Sequence[bytes]) -> Callable[[random.Random], bytes]:
    """Change the bytes of one of the samples."""
    return lambda chance: changed(chance.choice(samples), chance, words)


def zipped(sample: bytes, words: Sequence[bytes]) -> Callable[[random.Random], bytes]:
    """Change a member of a zip file and write the file again; sometimes, change its bytes."""
    with zipfile.ZipFile(io.BytesIO(sample)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def make(chance: random.Random) -> bytes:
        if chance.random() < 0.2:
            return changed(sample, chance)
        victim, stream = chance.choice(list(members)), io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, content in members.items():
                new = changed(content, chance, words) if name == victim else content
                archive.writestr(name, new)
        return stream.getvalue()

    return make


def gzipped(sample: bytes) -> Callable[[random.Random], bytes]:
    """Change text before it is compressed, or compressed bytes."""

    def make(chance: random.Random) -> bytes:
        if chance.random() < 0.5:
            return gzip.compress(changed(sample, chance, CSV_WORDS), 1)
        return changed(gzip.compress(sample, 1), chance)

    return make


def footers(samples: Sequence[bytes]) -> Callable[[random.Random], bytes]:
    """Change only the footer of a Parquet file, which ends with its length and a mark."""

    def make(chance: random.Random) -> bytes:
        sample = chance.choice(samples)
        length = int.from_bytes(sample[-8:-4], "little")
        rows, footer = sample[: -8 - length], changed(sample[-8 - length : -8], chance)
        return rows + footer + len(footer).to_bytes(4, "little") + b"PAR1"

    return make


def described(table: pa.Table) -> Callable[[random.Random], bytes]:
    """Change what pandas and others write about the columns into a Parquet file."""
    notes = {"columns": [{"name": "age", "pandas_type": "int64"}], "index_columns": ["age"]}

    def make(chance: random.Random) -> bytes:
        text = changed(json.dumps(notes).encode(), chance, JSON_WORDS)
        key = chance.choice((b"pandas", b"pandas", b"ARROW:schema", b"\xff"))
        stream = io.BytesIO()
        parquet.write_table(table.replace_schema_metadata({key: text}), stream)
        return stream.getvalue()

    return make


def table_of_rows() -> pa.Table:
    """Return the rows as an arrow table, with a dictionary and truth values."""
    header, *rows = ROWS
    table = pa.table(dict(zip(header, map(list, zip(*rows, strict=True)), strict=True)))
    smokers = pa.array([row[1] == "yes" for row in rows])
    codes = table.column("smoker").dictionary_encode()
    return table.append_column("is smoker", smokers).append_column("code", codes)


def samples() -> dict[str, bytes]:
    """Return the rows as bytes of every data format."""
    lines = [["" if cell is None else str(cell) for cell in row] for row in ROWS]
    quoted = [['"' + cell.replace('"', '""') + '"' for cell in line] for line in lines]
    book, workbook = io.BytesIO(), openpyxl.Workbook()
    for row in ROWS:
        workbook.active.append(row)
    workbook.save(book)
    found = {"xlsx": book.getvalue()}
    for how, compression in (("plain", "none"), ("packed", "snappy")):
        stream = io.BytesIO()
        parquet.write_table(table_of_rows(), stream, compression=compression)
        found[f"parquet-{how}"] = stream.getvalue()
    objects = [dict(zip(ROWS[0], row, strict=True)) for row in ROWS[1:]]
    found["jsonl"] = "\n".join(json.dumps(row) for row in objects).encode()
    found["csv"] = "\n".join(map(",".join, quoted)).encode()
    found["csv-semicolons"] = (
        "\r\n".join(map(";".join, quoted)).replace("1333.25", "1.333,25").encode()
    )
    found["csv-latin"] = found["csv"].decode().encode("latin-1")
    found["csv-utf16"] = found["csv"].decode().encode("utf-16")
    found["tsv"] = "\n".join(map("\t".join, lines)).encode()
    types = ("numeric", "{no, yes, ex}", "string", "real", "{yes, no}")
    names = [f"@attribute '{name}' {kind}" for name, kind in zip(ROWS[0], types, strict=True)]
    cells = [",".join(f"'{c}'" if c else "?" for c in line) for line in lines[1:]]
    found["arff"] = "\n".join(
        ["% patients", "@relation patients", *names, "@data", *cells]
    ).encode()
    head = "\n".join(["@relation r", *names, "@data"])
    found["arff-sparse"] = f"{head}\n{{0 61, 1 yes, 2 Bern, 4 no}}\n{{2 ?, 3 2.5}}\n".encode()
    return found


def network_samples() -> tuple[bytes, bytes]:
    """Return a small network with odd names in both formats."""
    network = networks.NetworkDescription(
        "my alarm",
        ("burglary", "the alarm", "call"),
        (("no", "yes"), ("silent", "rings", "0.5"), ("no", "yes")),
        ((), (0,), (1, 0)),
        (
            np.array([0.99, 0.01]),
            np.array([[0.9, 0.05, 0.05], [0.06, 0.84, 0.1]]),
            np.full((3, 2, 2), 0.5),
        ),
    )
    return networks.to_bif(network).encode(), networks.to_xmlbif(network).encode()


def subjects(folder: Path) -> dict[str, Subject]:
    """Return a function of the seed for every format."""
    pa.set_cpu_count(1)  # threads for files of ten lines only cost time
    known, (bif, xml) = samples(), network_samples()
    csv = [content for name, content in known.items() if name.startswith("csv")]
    pack = [content for name, content in known.items() if name.startswith("parquet")]
    arff = [content for name, content in known.items() if name.startswith("arff")]
    columns = (NumericColumn("age", (45.5, 60.0)), CategoricalColumn("smoker", ("no", "ex", "yes")))
    save_schema(Schema(columns, ("ill", "well"), "diagnosis"), folder / "schema.json")
    schema = (folder / "schema.json").read_bytes()
    unsealed = b",\n".join(schema.split(b",\n")[:-1]) + b"\n}\n"
    unnaive.count(table_of_rows(), target="ill").save(folder / "counts.unb")
    counts = (folder / "counts.unb").read_bytes()
    models = [(GOLDEN / f"{name}.unb").read_bytes() for name in ("nb", "gaussian-nb")]
    known_subjects = {
        "csv": (".csv", direct(csv, CSV_WORDS), judge_data),
        "csv-gz": (".csv.gz", gzipped(known["csv"]), judge_data),
        "tsv": (".tsv", direct([known["tsv"]], CSV_WORDS), judge_data),
        "arff": (".arff", direct(arff, ARFF_WORDS), judge_data),
        "jsonl": (".jsonl", direct([known["jsonl"]], JSON_WORDS), judge_data),
        "xlsx": (".xlsx", zipped(known["xlsx"], XML_WORDS), judge_data),
        "parquet": (".parquet", direct(pack, ()), judge_data),
        "parquet-footer": (".parquet", footers(pack), judge_data),
        "parquet-notes": (".parquet", described(table_of_rows()), judge_data),
        "bif": (".bif", direct([bif], BIF_WORDS), judge_network),
        "xmlbif": (".xml", direct([xml], XML_WORDS), judge_network),
        "schema": (".json", direct([schema, unsealed], JSON_WORDS), judge_schema),
        "counts": (".unb", direct([counts], JSON_WORDS), judge_counts),
        "counts-zip": (".unb", zipped(counts, JSON_WORDS), judge_counts),
        "model": (".unb", direct(models, JSON_WORDS), judge_model),
        "model-zip": (".unb", zipped(models[0], JSON_WORDS), judge_model),
    }
    return {
        name: partial(tried, folder / f"{name}{ending}", name, make, judge)
        for name, (ending, make, judge) in known_subjects.items()
    }
