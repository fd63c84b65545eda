"""The model store: bit for bit there and back, and nothing altered gets in."""

import errno
import hashlib
import io
import itertools
import json
import math
import os
import pickle
import stat
import struct
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from unnaive.exceptions import ModelFileError, WrongKindError
from unnaive.io.leftovers import lock
from unnaive.io.store import load, save

STATE = {
    "name": "Ünïcode ☃ 🙂",
    "numbers": [0, -1, 2**70, 0.1, -0.0, math.nan, math.inf, -math.inf, True, False, None],
    "deep": {"": [], "empty": {}, "list": [[1], [2.5]]},
    "counts": np.arange(12, dtype=np.int64).reshape(2, 3, 2),
    "flags": np.array([True, False]),
    "nothing": np.empty((0, 4), dtype=np.float32),
    "scalar": np.array(3.5),
}


def same(a, b):
    """Equality to the bit, types and order of keys included."""
    if isinstance(a, np.ndarray):
        return (
            isinstance(b, np.ndarray)
            and (a.dtype, a.shape) == (b.dtype, b.shape)
            and a.tobytes() == b.tobytes()
        )
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float):
        return struct.pack("d", a) == struct.pack("d", b)
    return a == b


arrays = hnp.arrays(
    dtype=st.one_of(
        hnp.boolean_dtypes(),
        hnp.integer_dtypes(endianness="<"),
        hnp.unsigned_integer_dtypes(endianness="<"),
        hnp.floating_dtypes(endianness="<"),
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
keys = st.text(max_size=5)
leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | arrays
states = st.dictionaries(
    keys,
    st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
        max_leaves=12,
    ),
    max_size=5,
)
in_one_folder = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150
)


@pytest.mark.long
@in_one_folder
@given(state=states)
def test_round_trip_to_the_bit(tmp_path, state):
    path = tmp_path / "model.unb"
    save(path, state)
    assert same(load(path), state)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.unb"
    save(path, STATE, written_by="0.1")
    return path


def test_round_trip_of_every_kind_of_value(saved):
    loaded = load(saved)
    assert same(loaded, STATE)
    assert loaded["counts"].flags.writeable


def test_nan_keeps_its_payload(tmp_path):
    odd = struct.unpack(">d", bytes.fromhex("fff8000000001234"))[0]
    save(tmp_path / "m", {"x": odd})
    assert struct.pack(">d", load(tmp_path / "m")["x"]).hex() == "fff8000000001234"


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=">i4").reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(4, 6)[::2, ::-2],
        np.broadcast_to(np.int8(3), (2, 2)),
    ],
)
def test_any_layout_of_an_array(tmp_path, array):
    save(tmp_path / "m", {"x": array})
    loaded = load(tmp_path / "m")["x"]
    np.testing.assert_array_equal(loaded, array)
    assert loaded.dtype.isnative
    assert loaded.dtype == array.dtype.newbyteorder("=")


def test_same_state_same_bytes(tmp_path, saved):
    save(tmp_path / "again.unb", STATE, written_by="0.1")
    assert (tmp_path / "again.unb").read_bytes() == saved.read_bytes()


def test_a_plain_zip_of_strict_json_and_raw_arrays(saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.namelist() == ["unnaive.json", *(f"arrays/{i}" for i in range(4))]
        raw = archive.read("arrays/0")
        document = json.loads(archive.read("unnaive.json"), parse_constant=pytest.fail)
    assert np.array_equal(np.frombuffer(raw, "<i8"), np.arange(12))
    assert (document["format"], document["version"], document["kind"]) == ("unnaive", 1, "model")
    assert document["state"]["counts"]["shape"] == [2, 3, 2]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"a": {"b": [1, (2,)]}}, r"state\['a'\]\['b'\]\[1\] is a tuple"),
        ({"a": {1: 2}}, r"state\['a'\] has the key 1"),
        ({"__array__": 1}, "__array__"),
        ({"a": np.array(["x"])}, r"state\['a'\] is an array of <U1"),
        ({"a": np.array([None])}, "array of object"),
        ({"a": np.array([1j])}, "array of complex128"),
        ({"a": np.array([1], dtype="M8[s]")}, "datetime64"),
        ({"a": np.int64(3)}, r"state\['a'\] is a int64"),
        ({"a": np.ma.masked_array([1, 2], [True, False])}, "MaskedArray"),
        ({"a": b"x"}, "bytes"),
        ({"a": "\ud83d\ude00"}, "valid Unicode"),
    ],
)
def test_what_cannot_be_stored_is_named(tmp_path, state, message):
    with pytest.raises(TypeError, match=message):
        save(tmp_path / "m", state)
    assert not list(tmp_path.iterdir())


def test_a_state_that_contains_itself(tmp_path):
    state = {}
    state["me"] = state
    with pytest.raises(TypeError, match="nested deeper than 100"):
        save(tmp_path / "m", state)


@pytest.mark.long
def test_truncation_at_every_length(tmp_path, saved):
    content = saved.read_bytes()
    cut = tmp_path / "cut.unb"
    for length in range(len(content)):
        cut.write_bytes(content[:length])
        with pytest.raises(ModelFileError, match=r"cut\.unb .*(damaged or cut off|empty);"):
            load(cut)


@pytest.mark.parametrize(
    "mask", [0x01, *(pytest.param(mask, marks=pytest.mark.long) for mask in (0x20, 0x80, 0xFF))]
)
def test_a_flip_of_any_byte_is_found_or_harmless(tmp_path, saved, mask):
    content = saved.read_bytes()
    altered = tmp_path / "altered.unb"
    found = 0
    for position in range(len(content)):
        flipped = bytearray(content)
        flipped[position] ^= mask
        altered.write_bytes(flipped)
        try:
            loaded = load(altered)
        except ModelFileError:
            found += 1
        else:
            assert same(loaded, STATE), position
    assert found > 0.8 * len(content)


@in_one_folder
@given(data=st.data())
def test_any_splice_is_found_or_harmless(tmp_path, data):
    path = tmp_path / "model.unb"
    save(path, STATE)
    content = path.read_bytes()
    start = data.draw(st.integers(0, len(content)))
    stop = data.draw(st.integers(start, min(len(content), start + 30)))
    path.write_bytes(content[:start] + data.draw(st.binary(max_size=30)) + content[stop:])
    with suppress(ModelFileError):
        assert same(load(path), STATE)


@given(content=st.binary(max_size=200))
@in_one_folder
def test_noise_is_no_model(tmp_path, content):
    (tmp_path / "noise").write_bytes(content)
    with pytest.raises(ModelFileError, match="noise"):
        load(tmp_path / "noise")


def forge(path, change=lambda document: None, arrays=None, compression=zipfile.ZIP_STORED):
    """Write a file whose checksums are right and whose claims are not."""
    content = np.arange(3.0)
    reference = {
        "__array__": "arrays/0",
        "dtype": "<f8",
        "shape": [3],
        "sha256": hashlib.sha256(content.tobytes()).hexdigest(),
    }
    document = {"format": "unnaive", "version": 1, "kind": "model", "written_by": "9.9"}
    document["state"] = {"x": reference}
    change(document)
    body = json.dumps(document, separators=(",", ":")).encode()
    document.setdefault("sha256", hashlib.sha256(body).hexdigest())
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("unnaive.json", json.dumps(document))
        for name, raw in (arrays if arrays is not None else {"arrays/0": content}).items():
            archive.writestr(name, bytes(raw))


def test_the_forger_knows_the_trade(tmp_path):
    forge(tmp_path / "m")
    assert same(load(tmp_path / "m"), {"x": np.arange(3.0)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(version=2), r"written by unnaive 9\.9.*pip install -U unnaive"),
        (lambda d: d.update(format="other"), "not a file that unnaive saved"),
        (lambda d: d.update(kind="counts"), "is of kind 'counts', not 'model'"),
        (lambda d: d.update(sha256="0" * 64), "altered"),
        (lambda d: d["state"]["x"].update(sha256="0" * 64), "altered after it was saved, in"),
        (lambda d: d["state"]["x"].update(shape=[10**15]), "24 bytes for shape"),
        (lambda d: d["state"]["x"].update(shape=[-1, -3]), "24 bytes for shape"),
        (lambda d: d["state"]["x"].update(shape=[3.0]), "damaged"),
        (lambda d: d["state"]["x"].update(shape=[1] * 100 + [3]), "damaged"),
        (lambda d: d["state"]["x"].update(dtype="|O"), r"type '\|O'"),
        (lambda d: d["state"]["x"].update(dtype="<M8[s]"), "type '<M8"),
        (lambda d: d["state"]["x"].update(__array__="arrays/1"), "lacks its member 'arrays/1'"),
        (lambda d: d["state"].update(y=d["state"]["x"]), "lacks its member 'arrays/0'"),
        (lambda d: d.update(state={}), "members that no array refers to"),
        (lambda d: d["state"]["x"].update(dtype="|b1", shape=[24]), "neither 0 nor 1"),
        (lambda d: d["state"].update(y=math.nan), "damaged"),
    ],
    ids=itertools.count(),
)
def test_forged_claims_are_refused(tmp_path, change, message):
    forge(tmp_path / "forged.unb", change)
    with pytest.raises(ModelFileError, match=message) as caught:
        load(tmp_path / "forged.unb")
    assert "forged.unb" in str(caught.value)


def test_a_missing_member(tmp_path):
    forge(tmp_path / "m", arrays={})
    with pytest.raises(ModelFileError, match="lacks its member 'arrays/0'"):
        load(tmp_path / "m")


def test_compressed_members_are_refused_unread(tmp_path):
    forge(tmp_path / "m", compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="compressed"):
        load(tmp_path / "m")


@pytest.mark.parametrize("depth", [150, 100_000])
def test_deep_json_is_refused(tmp_path, depth):
    deep = "[" * depth + "]" * depth
    document = f'{{"format":"unnaive","version":1,"kind":"model","written_by":"","state":{deep}}}'
    checksum = hashlib.sha256(document.encode()).hexdigest()
    with zipfile.ZipFile(tmp_path / "m", "w") as archive:
        archive.writestr("unnaive.json", f'{document[:-1]},"sha256":"{checksum}"}}')
    with pytest.raises(ModelFileError, match="nested too deeply"):
        load(tmp_path / "m")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"age,smoker\n61,no\n", "is not a zip file"),
        (b"\x80\x05\x95pickle", "is not a zip file"),
    ],
)
def test_other_files(tmp_path, content, message):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "other")


def test_another_zip_a_folder_and_no_file(tmp_path):
    np.savez(tmp_path / "arrays.npz", x=np.arange(3))
    with pytest.raises(ModelFileError, match=r"zip without unnaive\.json"):
        load(tmp_path / "arrays.npz")
    with pytest.raises(ModelFileError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match="absent"):
        load(tmp_path / "absent")


def test_kinds(tmp_path):
    save(tmp_path / "c", {"rows": 3}, kind="counts")
    assert load(tmp_path / "c", kind="counts") == {"rows": 3}
    with pytest.raises(ModelFileError, match="is of kind 'counts', not 'model'"):
        load(tmp_path / "c")


class FullDisk(io.FileIO):
    """A file on a disk with room for ``room`` bytes."""

    room = 0

    def write(self, content):
        if self.tell() + len(memoryview(content)) > self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)


@pytest.mark.parametrize("room", [0, 10, 300, 900, 1300])
def test_a_full_disk_leaves_the_old_file(tmp_path, saved, monkeypatch, room):
    before = saved.read_bytes()
    monkeypatch.setattr(FullDisk, "room", room)
    monkeypatch.setattr("pathlib.Path.open", lambda self, mode: FullDisk(self, mode.strip("b")))
    with pytest.raises(
        OSError, match=r"No space left.*older file is untouched.*model\.unb"
    ) as caught:
        save(saved, {**STATE, "more": 1})
    assert caught.value.errno == errno.ENOSPC
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert list(tmp_path.iterdir()) == [saved]


@pytest.mark.parametrize("name", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_any_interruption_leaves_the_old_file(tmp_path, saved, monkeypatch, name, error):
    def fail(*arguments):
        raise error

    before = saved.read_bytes()
    monkeypatch.setattr(os, name, fail)
    with pytest.raises(type(error)):
        save(saved, {})
    monkeypatch.undo()
    assert saved.read_bytes() == before
    assert list(tmp_path.iterdir()) == [saved]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links(tmp_path):
    before = os.umask(0o027)
    try:
        save(tmp_path / "m", {})
        assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o640
        (tmp_path / "m").chmod(0o600)
        (tmp_path / "link").symlink_to("m")
        save(tmp_path / "link", {"x": 1})
    finally:
        os.umask(before)
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "m") == {"x": 1}
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == 0o600


def test_places_that_cannot_hold_a_file(tmp_path):
    with pytest.raises(PermissionError, match="save elsewhere"):
        save(tmp_path, {})
    with pytest.raises(FileNotFoundError, match="absent"):
        save(tmp_path / "absent" / "m", {})
    with pytest.raises(PermissionError, match="device"):
        save("/dev/null", {})


def test_a_file_of_another_kind_is_told_by_fields(tmp_path):
    save(tmp_path / "counts.unb", {"rows": 3}, kind="counts")
    with pytest.raises(WrongKindError, match="is of kind 'counts', not 'model'") as told:
        load(tmp_path / "counts.unb")
    for error in (told.value, pickle.loads(pickle.dumps(told.value))):
        assert (error.found, error.wanted) == ("counts", "model")
        assert str(error) == str(told.value)


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps files that are open")
def test_hidden_files_of_killed_processes_are_removed(tmp_path):
    names = [f".unnaive-{digit * 16}.tmp" for digit in "012"]
    dead, young, locked, other = (tmp_path / name for name in (*names, ".other.tmp"))
    for path in (dead, young, locked, other):
        path.write_bytes(b"a part")
        if path != young:
            os.utime(path, (0, 0))
    with locked.open("rb") as stream:
        lock(stream)  # as a process that writes it
        save(tmp_path / "model.unb", {"a": 1})
    assert not dead.exists()
    assert all(path.exists() for path in (young, locked, other))
    os.utime(young, (0, 0))
    save(tmp_path / "model.unb", {"a": 2})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".other.tmp", "model.unb"]
