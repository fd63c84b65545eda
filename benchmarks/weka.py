"""Time WEKA 3.6 inside its JVM, by a Java class that is compiled on demand."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
JAR = "/usr/share/java/weka.jar"  # where Debian's package puts it
BAYES = "weka.classifiers.bayes."
AODE = f"{BAYES}AODE -F 1"
HNB = f"{BAYES}HNB"
WAODE = f"{BAYES}WAODE"
TAN = (
    f"{BAYES}BayesNet -D -Q {BAYES}net.search.local.TAN -- -S ENTROPY"
    f" -E {BAYES}net.estimate.SimpleEstimator -- -A 1.0"
)


class WekaAbsent(Exception):
    """WEKA or the Java compiler is missing; the text says how to install it."""


@dataclass(frozen=True)
class Times:
    """The output of ``WekaTimes``: seconds, the tree, and posteriors of the first rows."""

    version: str
    passes: int
    fit: float
    predict: float
    parents: list[int]
    posteriors: np.ndarray

    @property
    def checked(self) -> int:
        """Return the number of rows with posteriors."""
        return len(self.posteriors)


def jar() -> Path:
    """Return the path of WEKA: ``WEKA_JAR`` in the environment, or the Debian package's place."""
    path = Path(os.environ.get("WEKA_JAR", JAR))
    if not path.exists():
        raise WekaAbsent(f"apt install weka (no {path}; another place: WEKA_JAR=FILE)")
    if shutil.which("java") is None or shutil.which("javac") is None:
        raise WekaAbsent("apt install weka default-jdk-headless (no java or javac on PATH)")
    return path


def to_arff(X: np.ndarray, y: np.ndarray) -> str:
    """Return the rows as ARFF, every column nominal from 0 to its largest value.

    >>> print(to_arff(np.array([[0, 2]]), np.array([1])))
    @relation tree
    @attribute x0 {0}
    @attribute x1 {0,1,2}
    @attribute y {0,1}
    @data
    0,2,1
    <BLANKLINE>
    """
    columns = [*(f"x{i}" for i in range(X.shape[1])), "y"]
    highest = [*X.max(axis=0), y.max()]
    lines = ["@relation tree"]
    for name, top in zip(columns, highest, strict=True):
        lines.append(f"@attribute {name} {{{','.join(map(str, range(top + 1)))}}}")
    lines.append("@data")
    lines += [",".join(map(str, row)) for row in np.column_stack([X, y]).tolist()]
    return "\n".join(lines) + "\n"


def run(X: np.ndarray, y: np.ndarray, command: str, *, repeats: int, checked: int) -> Times:
    """Train and predict in one JVM: a first pass to warm it, then up to ``repeats`` more."""
    weka = jar()
    with tempfile.TemporaryDirectory() as folder:
        arff = Path(folder) / "rows.arff"
        arff.write_text(to_arff(X, y))
        source = str(HERE / "WekaTimes.java")
        subprocess.run(["javac", "-nowarn", "-cp", str(weka), "-d", folder, source], check=True)
        path = os.pathsep.join([str(weka), folder])
        numbers = [str(repeats), str(min(checked, len(X)))]
        output = subprocess.run(
            ["java", "-Xmx4g", "-cp", path, "WekaTimes", str(arff), *numbers, *command.split()],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    return _read(output)


def _read(output: str) -> Times:
    records: dict[str, list[list[str]]] = {}
    for line in output.splitlines():
        key, *cells = line.split("\t")
        records.setdefault(key, []).append(cells)
    return Times(
        version=f"{records['version'][0][0]} on Java {records['java'][0][0]}",
        passes=len(records["pass"]),
        fit=min(float(cells[0]) for cells in records["pass"]),
        predict=min(float(cells[1]) for cells in records["pass"]),
        parents=[int(cell) for cell in records.get("parents", [[]])[0]],
        posteriors=np.array(records["row"], dtype=np.float64),
    )
