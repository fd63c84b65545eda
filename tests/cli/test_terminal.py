"""The command line as people meet it: help, colours, Ctrl-C, completion, odd names."""

import errno
import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest
from rich.console import Console

import unnaive
from commands import HEADER, fails, patients, run, write
from unnaive.cli import terminal
from unnaive.cli.app import app
from unnaive.cli.options import complete_model, complete_models
from unnaive.models import model_keys

PROGRAM = [sys.executable, "-c", "from unnaive.cli.app import main; main()"]
COMMANDS = [one.callback.__name__ for one in app.registered_commands]
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write(tmp_path_factory.mktemp("polish") / "patients.csv", HEADER, patients(120, 1))


@pytest.fixture(scope="module")
def model(data):
    path = data.parent / "nb.unb"
    run("fit", data, "-t", "diagnosis", "--ignore", "id", "-m", "nb", "-o", path)
    return path


def in_terminal(*arguments, width=80, **variables):
    """Run the program in a terminal of its own; return its exit code and all that it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    for name in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"} - set(variables):
        environment.pop(name, None)
    command = [*PROGRAM, *map(str, arguments)]
    with subprocess.Popen(command, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody writes any more
                break
            if not part:
                break
            shown += part
    os.close(ours)
    return process.returncode, shown.decode()


# Help


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_examples_of_options_that_it_has(command):
    text = run(command, "--help").stdout
    before, _, examples = text.partition("Examples:\n")
    found = [line.split() for line in examples.splitlines() if line.strip()]
    assert 1 <= len(found) <= 3
    for words in found:
        assert words[:2] == ["unnaive", command]
        for option in words:
            if option.startswith("-"):
                assert re.search(rf"(^|[ ,]){option}\b", before, re.MULTILINE), option


def test_no_summary_is_cut_off():
    text = run("--help").stdout
    assert "..." not in text.partition("Commands:")[2]
    assert "--install-completion" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_prints_json_if_asked(command):
    assert "--json" in run(command, "--help").stdout


# Colours and widths


@pytest.mark.long
def test_colours_on_a_terminal_only(tmp_path):
    arguments = ["fit", tmp_path / "none.csv", "-t", "y", "-o", tmp_path / "m.unb"]
    code, shown = in_terminal(*arguments)
    assert code == 1
    assert "\x1b[31m" in shown
    assert ESCAPE.sub("", shown).startswith("error: ")
    assert "\x1b" not in in_terminal(*arguments, NO_COLOR="1")[1]
    assert "\x1b" not in in_terminal(*arguments, TERM="dumb")[1]
    assert "\x1b" not in fails(*arguments)


@pytest.mark.parametrize("width", [30, 40, 60, 200])
def test_numbers_are_never_folded(data, monkeypatch, width):
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", width)
    shown = run("evaluate", data, "-t", "diagnosis", "--ignore", "id", "-m", "nb").stdout
    monkeypatch.setattr(terminal, "_PIPE_WIDTH", 140)
    wide = run("evaluate", data, "-t", "diagnosis", "--ignore", "id", "-m", "nb").stdout
    accuracy = re.search(r"nb +(0\.\d{3})", wide)[1]
    assert re.search(rf"\b{re.escape(accuracy)}\b", shown)
    assert max(map(len, shown.splitlines())) <= width


def test_a_label_is_no_markup_and_the_time_left_is_told(monkeypatch, capsys):
    shown_to_people = Console(stderr=True, markup=False, emoji=False, force_terminal=True)
    monkeypatch.setattr(terminal, "error_console", lambda: shown_to_people)
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    for total, wanted in [(2, "50%"), (None, "0:00:0")]:
        with terminal.progress("reading data[red].csv", total) as advance:
            advance(1)
            time.sleep(0.1)
        shown = ESCAPE.sub("", capsys.readouterr().err)
        assert "reading data[red].csv" in shown
        assert wanted in shown
        assert ("remaining" in shown) == (total is not None)


# Completion


def test_completion_knows_every_model():
    assert sorted(model_keys()) == sorted(unnaive.all_models())
    assert complete_model("tan") == ["tan", "tan-multinet"]
    assert complete_models("nb,phn") == ["nb,phnb"]
    assert complete_models("al") == ["all"]


def test_the_tab_key():
    words = "unnaive fit --model ienb"
    variables = {"COMP_WORDS": words, "COMP_CWORD": "3", "_UNNAIVE_COMPLETE": "complete_bash"}
    found = subprocess.run(
        [sys.executable, "-X", "importtime", *PROGRAM[1:]],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.split() == ["ienb"]
    assert "sklearn" not in found.stderr


# Ctrl-C


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="needs signals")
@pytest.mark.parametrize("command", ["fit", "evaluate", "compare", "count", "report"])
def test_interrupted_work_leaves_nothing(command, data, model, tmp_path):
    arguments, moment = {
        "fit": (["fit", data, "-t", "diagnosis", "-m", "nb", "-o", "out"], "os.fsync"),
        "evaluate": (["evaluate", data, "-t", "diagnosis"], "files.read"),
        "compare": (["compare", data, "-t", "diagnosis", "-m", "nb", "--html", "out"], "os.fsync"),
        "count": (["count", data, "-t", "diagnosis", "-o", "out"], "os.fsync"),
        "report": (["report", model, data, "-o", "out"], "os.fsync"),
    }[command]
    # The signal comes at the worst moment: the file is written under another name, not renamed.
    # A thread is busy, which must not keep the program.
    stop = (
        "import os, sys, threading, time\n"
        "from unnaive.io import files\n"
        "def wait(*_, **__): print('begun', flush=True); time.sleep(60)\n"
        f"{moment} = wait\n"
        "threading.Thread(target=time.sleep, args=(60,)).start()\n"
        "from unnaive.cli.app import main; main()"
    )
    command = [sys.executable, "-c", stop, *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "PYTHONPATH": str(Path(unnaive.__file__).parents[1])}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, **pipes) as process:
        try:
            assert process.stdout.readline() == "begun\n"
            start = time.perf_counter()
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=30)
        finally:
            process.kill()
    assert time.perf_counter() - start < 20
    assert process.returncode == 130
    assert output == ""
    assert errors.splitlines()[-1] == "interrupted"
    assert "Traceback" not in errors
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_interrupted_while_it_is_imported():
    stop = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "class Finder:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'unnaive.cli.app': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from unnaive.cli.start import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", stop], capture_output=True, text=True, check=False)
    assert done.stderr == "interrupted\n"
    assert done.returncode == 130


# Messages


def test_the_system_s_errors_name_a_cure(model, data, monkeypatch):
    assert "none.unb: No such file or directory; check its name and folder" in fails(
        "predict", "none.unb", data
    )

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "x")

    monkeypatch.setattr("unnaive.io.parts.open_part", full)
    assert fails("predict", model, data).endswith("free some space, or write to another disk")


def test_a_cure_is_not_told_twice(tmp_path):
    line = fails("evaluate", tmp_path / "none.csv", "-t", "y")
    assert line.count("check its name") == 1


@pytest.mark.parametrize(("wrong", "right"), [("TAN", "tan"), ("nbb", "nb"), ("a0de", "a")])
def test_models_that_are_nearly_there(data, wrong, right):
    line = fails("evaluate", data, "-t", "diagnosis", "-m", wrong)
    assert f"there is no model {wrong!r}; did you mean '{right}" in line


def test_missing_target_says_what_it_is(data, tmp_path):
    result = run("fit", data, "-o", tmp_path / "m.unb", code=2)
    assert "name the target column" in result.stderr


def test_an_id_is_named_with_its_option(tmp_path):
    rows = [[f"P{row[0]}", *row[1:]] for row in patients(120, 1)]
    path = write(tmp_path / "d.csv", ["patient's id", *HEADER[1:]], rows)
    result = run("fit", path, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb")
    option = re.search(r"--keep (.+)$", result.stderr, re.MULTILINE)[1]
    assert option == "'patient'\"'\"'s id'"  # what a shell takes for patient's id
    again = run(
        *("fit", path, "-t", "diagnosis", "-m", "nb", "-o", tmp_path / "m.unb"),
        *("--ignore", "patient's id"),
    )
    assert again.stderr == ""


def test_the_class_in_a_file_is_not_called_unknown(model, data):
    note = run("predict", model, data).stderr
    assert "('diagnosis' is the target)" in note
    only = write(data.parent / "only.csv", HEADER[1:], [row[1:] for row in patients(9, 3)])
    note = run("predict", model, only).stderr
    assert note == "note: column 'diagnosis' is the target; it is not used\n"


def test_what_to_do_next_can_be_pasted(data, tmp_path):
    path = tmp_path / "my model.unb"
    shown = run("fit", data, "-t", "diagnosis", "-m", "nb", "-o", path).stdout
    assert f"next     unnaive predict '{path}' NEW.csv" in shown
    assert f"or       unnaive report '{path}' " in shown


def test_odd_names_all_the_way(tmp_path):
    header = ["it's", 'say "aah"', "smoker 🚬", "[red]", "klass 😷"]
    rows = [row[1:] for row in patients(120, 5)]
    path, saved = write(tmp_path / "d [1].csv", header, rows), tmp_path / "m.unb"
    run("fit", path, "-t", "klass 😷", "-m", "tan", "-o", saved)
    found = json.loads(run("predict", saved, path, "--json").stdout)
    assert found["target"] == "klass 😷"
    assert 'say "aah"' in run("explain", saved, path).stdout
    run("evaluate", path, "-t", "klass 😷", "-m", "nb")
    assert "did you mean 'klass 😷'?" in fails("evaluate", path, "-t", "klass")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "DATA", "-t", "diagnosis", "-m", "nb", "-o", "OUT"],
        ["predict", "MODEL", "DATA", "--proba"],
        ["explain", "MODEL", "DATA", "--what-if", "--ask"],
        ["evaluate", "DATA", "-t", "diagnosis", "-m", "nb"],
        ["compare", "DATA", "-t", "diagnosis", "--models", "nb,tan"],
        ["report", "MODEL", "DATA"],
        ["schema", "DATA", "-t", "diagnosis", "-o", "OUT"],
        ["count", "DATA", "-t", "diagnosis", "-o", "OUT"],
        ["models"],
    ],
    ids=lambda words: words[0],
)
def test_json_alone_on_standard_output(arguments, data, model, tmp_path):
    places = {"DATA": data, "MODEL": model, "OUT": tmp_path / "out"}
    result = run(*[places.get(word, word) for word in arguments], "--json")
    assert json.loads(result.stdout)


# Files that try to disguise what is shown


@pytest.mark.long
def test_codes_of_a_file_do_not_reach_the_terminal(tmp_path):
    hidden = "\x1b]0;hi\x07age\u202e"
    lines = [[f"{number % 7}", "\x1b[2Jyes" if number % 2 else "no\x9b"] for number in range(40)]
    rows = write(tmp_path / "rows.csv", [hidden, "ill\x1b[8m"], lines)
    path, bare = tmp_path / "nb.unb", re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]")
    fitted = run("fit", rows, "-t", "ill\x1b[8m", "-m", "nb", "-o", path)
    found = [fitted, run("explain", path, rows, "--json"), run("explain", path, rows)]
    assert not any(bare.search(one.output) for one in found)
    shown = in_terminal("predict", path, rows, "--proba", NO_COLOR="1")[1]
    assert not bare.search(re.sub(r"\x1b\[(\?25[lh]|2K|1A)", "", shown))  # codes of progress
    assert "\\u001b[2Jyes" in shown
    assert "\x1b[2Jyes" in run("predict", path, rows).stdout  # other programs get what is there
    assert not bare.search(fails("check", rows, "-t", "other"))
