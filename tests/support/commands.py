"""The command line as tests call it, and rows for it."""

import csv
import random

from typer.testing import CliRunner

from unnaive.cli.app import app


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def fails(*arguments, code=1):
    """The one line that a user reads when something is wrong."""
    result = run(*arguments, code=code)
    lines = result.stderr.splitlines()
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert lines[-1].startswith("error: ")
    return lines[-1]


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


def patients(n, seed, towns=("Oslo", "Bern")):
    """Rows of an id, labels, numbers, gaps, a column that may look like numbers, the class."""
    chance = random.Random(seed)
    for number in range(n):
        ill = chance.random() < 0.4
        age = round(chance.gauss(65 if ill else 45, 10), 1)
        smoker = chance.choice(["yes", "yes", "no"] if ill else ["no", "no", "ex"])
        stage = chance.choice(["2", "3", "x"] if ill else ["1", "2"])
        town = chance.choice(towns)
        yield [
            number,
            "" if chance.random() < 0.1 else age,
            "?" if chance.random() < 0.1 else smoker,
            stage,
            town,
            "ill" if ill else "well",
        ]


HEADER = ["id", "age", "smoker", "stage", "town", "diagnosis"]
