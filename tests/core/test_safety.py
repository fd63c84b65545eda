"""The compiled core: correct stubs, refused arguments, and the same bits on all processors."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import unnaive._core as core
from unnaive._core import tables

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_spoiled_arguments_are_refused_or_answered():
    program = [sys.executable, "-W", "ignore", "-X", "faulthandler", "tests/core/fuzz.py", "2"]
    found = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-2000:]
    answered, refused = (int(word.replace(",", "")) for word in found.stdout.split()[-4::2])
    assert answered > 300
    assert refused > 300


def test_stubs_are_those_of_the_build(tmp_path):
    pytest.importorskip("nanobind", reason="stubs are made by nanobind, which builds need")
    program = [sys.executable, "-m", "nanobind.stubgen", "-q", "-r", "-m", "unnaive._core"]
    subprocess.run([*program, "-O", str(tmp_path)], check=True, capture_output=True)
    made = {path.name: path.read_text() for path in (tmp_path / "_core").glob("*.pyi")}
    kept = {path.name: path.read_text() for path in (ROOT / "src/unnaive/_core").glob("*.pyi")}
    assert kept == made, (
        "make them anew: python -m nanobind.stubgen -r -m unnaive._core -O src/unnaive"
    )


def test_arrays_of_another_type_or_order_are_refused_not_copied():
    joint, out = np.zeros((3, 2)), np.empty((3, 2))
    tables.posterior(joint, out)
    for wrong in (
        (joint.astype(np.float32), out),
        (joint, np.asfortranarray(out)),
        (joint, out[::2]),
        (joint.tolist(), out),
        (joint[0], out),
    ):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            tables.posterior(*wrong)
    frozen = out.copy()
    frozen.flags.writeable = False
    with pytest.raises(TypeError):
        tables.posterior(joint, frozen)
    tables.posterior(frozen, out)
    with pytest.raises(IndexError, match="posterior: joint and out differ in shape"):
        tables.posterior(joint, np.empty((3, 3)))


def test_the_level_can_be_lowered():
    best = core.level()
    try:
        for wanted in range(best + 1):
            core.set_level(wanted)
            assert core.level() == wanted
    finally:
        core.set_level(-1)
    assert core.level() == best
