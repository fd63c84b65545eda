"""Write the golden files: posteriors and cut points printed by WEKA 3.6.14.

Run from anywhere, with the folder of data sets in the environment::

    UNNAIVE_DATA=FOLDER python make.py --weka weka.jar

Needs a JDK (``java`` and ``javac`` on PATH) and nothing of ``unnaive`` itself, so that the
numbers cannot follow the library's mistakes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BAYES = "weka.classifiers.bayes."
TAN = (
    f"BayesNet -D -Q {BAYES}net.search.local.TAN -- -S ENTROPY"
    f" -E {BAYES}net.estimate.SimpleEstimator -- -A 1.0"
)
MODELS = {
    "nb": "NaiveBayes",
    "aode": "AODE -F 1",
    "aode-f5": "AODE -F 5",
    "aode-f50": "AODE -F 50",
    "aode-m": "AODE -M -W 1",
    "aodesr": "AODEsr",
    "aodesr-laplace": "AODEsr -L",
    "hnb": "HNB",
    "waode": "WAODE",
    "tan": TAN,
}
COMPLETE_ONLY = {"hnb", "waode"}
CUT_DATA = ("iris", "glass", "wdbc")
MADE = HERE / "made"  # drawn by draw.py, and committed


@dataclass(frozen=True)
class Golden:
    """One golden file: a data set, what is done to it, and the rows and models that are kept."""

    name: str
    data: str
    models: tuple[str, ...] = tuple(MODELS)
    step: int = 1
    replace: bool = False


GOLDEN = (
    Golden("vote", "vote", tuple(m for m in MODELS if m not in COMPLETE_ONLY)),
    Golden("kr-vs-kp", "kr-vs-kp", step=8),
    Golden("soybean-large", "soybean-large", step=3, replace=True),
    Golden("soybean-large-missing", "soybean-large", ("nb", "aode", "aodesr"), step=3),
    Golden("nursery", "nursery", step=8),
)
GOLDEN_OF_MADE = (
    Golden("made", "made"),
    Golden("made-missing", "made-missing", tuple(m for m in MODELS if m not in COMPLETE_ONLY)),
)


class Weka:
    """A compiled ``WekaGolden`` and the folder of ARFF files it reads.

    Parameters
    ----------
    jar : path of ``weka.jar``.
    folder : an empty folder, for the class file and the ARFF files.
    data : the folder of data sets, with ``schema.json``.
    """

    def __init__(self, jar: Path, folder: Path, data: Path) -> None:
        self.classpath = os.pathsep.join([str(jar), str(folder)])
        self.folder = folder
        self.data = data
        self.schema = json.loads((data / "schema.json").read_text())
        source = str(HERE / "WekaGolden.java")
        subprocess.run(["javac", "-cp", str(jar), "-d", str(folder), source], check=True)

    def run(self, mode: str, name: str, *arguments: str) -> dict[str, list[str]]:
        """Run ``WekaGolden`` on a data set; the texts it printed, by their key."""
        arff = self.folder / f"{name}.arff"
        if not arff.exists():
            arff.write_text(to_arff(self.data, name, self.schema[name]))
        command = ["java", "-cp", self.classpath, "WekaGolden", mode, str(arff), *arguments]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        records: dict[str, list[str]] = {}
        for line in output.splitlines():
            key, _, text = line.partition("\t")
            records.setdefault(key, []).append(text)
        return records


def quote(text: str) -> str:
    """An ARFF name or value, quoted.

    >>> quote("it's")
    "'it\\\\'s'"
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def to_arff(folder: Path, name: str, columns: list[dict[str, Any]]) -> str:
    """The ARFF text of a data set, with the declared domains; an empty cell is missing."""
    lines = [f"@relation {quote(name)}"]
    for column in columns:
        values = column.get("values")
        domain = "numeric" if values is None else "{" + ",".join(map(quote, values)) + "}"
        lines.append(f"@attribute {quote(column['name'])} {domain}")
    lines.append("@data")
    with gzip.open(folder / f"{name}.csv.gz", "rt", newline="") as file:
        rows = csv.reader(file)
        if next(rows) != [column["name"] for column in columns]:
            raise ValueError(f"{name}: header and schema differ")
        lines += [",".join(quote(cell) if cell else "?" for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def numbers(text: str) -> list[float]:
    """The numbers of one printed record."""
    return [float(part) for part in text.split("\t") if part]


def golden_file(weka: Weka, golden: Golden) -> dict[str, Any]:
    """What WEKA says of one data set: metadata, and posteriors by model."""
    mode = "replace" if golden.replace else "model"
    *attributes, target = weka.schema[golden.data]
    content: dict[str, Any] = {
        "data": golden.data,
        "preprocessing": "ReplaceMissingValues" if golden.replace else None,
        "classes": target["values"],
        "attributes": [column["name"] for column in attributes],
    }
    for key in golden.models:
        name, *options = MODELS[key].split()
        records = weka.run(mode, golden.data, BAYES + name, *options)
        content["weka"] = records["version"][0]
        content["n_rows"] = len(records["row"])
        content["row_step"] = golden.step
        if golden.replace:
            modes = map(int, numbers(records["modes"][0]))
            content["modes"] = [c["values"][m] for c, m in zip(attributes, modes, strict=True)]
        model = content.setdefault("models", {}).setdefault(key, {})
        model["command"] = f"WekaGolden {mode} {golden.data}.arff {BAYES}{MODELS[key]}"
        model["options"] = records["options"][0]
        if "parents" in records:
            model["parents"] = [int(parent) for parent in numbers(records["parents"][0])]
        rows = [numbers(row) for row in records["row"][:: golden.step]]
        twin = next((k for k, m in content["models"].items() if m.get("proba") == rows), None)
        model |= {"proba": rows} if twin is None else {"same_as": twin}
    return content


def cut_points(weka: Weka, data: tuple[str, ...]) -> dict[str, Any]:
    """Cut points of both Discretize filters for every numeric column of the data sets."""
    content: dict[str, Any] = {
        "mdlp": "weka.filters.supervised.attribute.Discretize",
        "width": "weka.filters.unsupervised.attribute.Discretize -B 10",
        "data": {},
    }
    for name in data:
        records = weka.run("cuts", name)
        content["weka"] = records["version"][0]
        columns = [c["name"] for c in weka.schema[name] if c["type"] == "numeric"]
        content["data"][name] = {
            column: {"mdlp": numbers(mdlp), "width": numbers(width)}
            for column, mdlp, width in zip(columns, records["mdlp"], records["width"], strict=True)
        }
    return content


def gzipped(content: dict[str, Any]) -> bytes:
    """JSON, one posterior a line, compressed without name or time: equal content, equal bytes."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    text = text.replace("],[", "],\n[").replace('"proba"', '\n"proba"') + "\n"
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(text.encode())
    return buffer.getvalue()


def main() -> None:
    """Write every golden file beside this script."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weka", type=Path, required=True, help="path of weka.jar, 3.6.14")
    jar = parser.parse_args().weka
    write(jar, MADE, GOLDEN_OF_MADE, ("made-numbers",), MADE / "cuts.json")
    if "UNNAIVE_DATA" in os.environ:
        data = Path(os.environ["UNNAIVE_DATA"])
        write(jar, data, GOLDEN, CUT_DATA, HERE / "cuts.json")


def write(
    jar: Path, data: Path, models: tuple[Golden, ...], cut: tuple[str, ...], cuts: Path
) -> None:
    """Write the golden files of one folder of data sets."""
    with tempfile.TemporaryDirectory() as folder:
        weka = Weka(jar, Path(folder), data)
        for golden in models:
            (HERE / f"{golden.name}.json.gz").write_bytes(gzipped(golden_file(weka, golden)))
        cuts.write_text(json.dumps(cut_points(weka, cut), indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
