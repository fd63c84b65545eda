"""Signatures: keys that users have, files that were changed, and clear refusals."""

import shutil
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import unnaive
from commands import fails, run
from unnaive.cli.app import app
from unnaive.exceptions import SignatureError

form = pytest.importorskip("cryptography.hazmat.primitives.serialization")
asymmetric = pytest.importorskip("cryptography.hazmat.primitives.asymmetric")
ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")


def write_keys(folder, name="key", secret=None, style="OpenSSH", password=None):
    """Write a private key and a public one."""
    secret = secret or ed25519.Ed25519PrivateKey.generate()
    lock = form.BestAvailableEncryption(password) if password else form.NoEncryption()
    ssh = style == "OpenSSH"
    private = form.PrivateFormat.OpenSSH if ssh else form.PrivateFormat.PKCS8
    public = form.PublicFormat.OpenSSH if ssh else form.PublicFormat.SubjectPublicKeyInfo
    outer = form.Encoding.OpenSSH if ssh else form.Encoding.PEM
    key, known = folder / name, folder / f"{name}.pub"
    key.write_bytes(secret.private_bytes(form.Encoding.PEM, private, lock))
    known.write_bytes(secret.public_key().public_bytes(outer, public))
    return key, known


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.unb"
    unnaive.NaiveBayes().fit([["a"], ["b"]], ["no", "yes"]).save(path)
    return path


@pytest.mark.parametrize("style", ["OpenSSH", "PEM"])
def test_a_signed_file_is_verified(tmp_path, model, style):
    key, known = write_keys(tmp_path, style=style)
    assert unnaive.sign(model, key) == tmp_path / "model.unb.sig"
    assert unnaive.verify(model, known).startswith("SHA256:")
    assert unnaive.load(model).classes_.tolist() == ["no", "yes"]


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="needs OpenSSH")
def test_a_key_of_openssh(tmp_path, model):
    key = tmp_path / "id_ed25519"
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@here", "-f", str(key)]
    subprocess.run(words, check=True)
    unnaive.sign(model, key, signature=tmp_path / "s")
    found = unnaive.verify(model, f"{key}.pub", signature=tmp_path / "s")
    shown = subprocess.run(["ssh-keygen", "-lf", f"{key}.pub"], check=True, capture_output=True)
    assert shown.stdout.decode().split()[1] == found


@pytest.mark.parametrize("place", [0, 40, -1])
def test_a_changed_file_is_refused(tmp_path, model, place):
    key, known = write_keys(tmp_path)
    unnaive.sign(model, key)
    content = bytearray(model.read_bytes())
    content[place] ^= 1
    model.write_bytes(content)
    with pytest.raises(SignatureError, match="was changed after it was signed"):
        unnaive.verify(model, known)


def test_another_key_and_another_signature_are_refused(tmp_path, model):
    key, known = write_keys(tmp_path)
    _, other = write_keys(tmp_path, "other")
    signature = unnaive.sign(model, key)
    with pytest.raises(SignatureError, match=r"was signed by the key SHA256:.*, not by SHA256:"):
        unnaive.verify(model, other)
    words = signature.read_text().split()
    for text in ("", "x y z", f"{words[0]} {words[1]} ***", "\x1b[2J" * 3, f"{words[0]} a b c"):
        signature.write_text(text)
        with pytest.raises(SignatureError, match="is not a signature of unnaive"):
            unnaive.verify(model, known)
    signature.write_text(f"{words[0]} {words[1]} AAAA")
    with pytest.raises(SignatureError, match="was changed"):
        unnaive.verify(model, known)
    signature.unlink()
    with pytest.raises(SignatureError, match="has no signature file"):
        unnaive.verify(model, known)


@pytest.mark.parametrize("style", ["OpenSSH", "PEM"])
def test_passwords(tmp_path, model, style):
    if style == "OpenSSH":
        pytest.importorskip("bcrypt", reason="locked keys of OpenSSH need bcrypt")
    key, known = write_keys(tmp_path, style=style, password=b"open")
    with pytest.raises(SignatureError, match="has a password; give it") as caught:
        unnaive.sign(model, key)
    assert caught.value.needs_password
    with pytest.raises(SignatureError, match="the password is wrong"):
        unnaive.sign(model, key, password="shut")
    unnaive.sign(model, key, password="open")
    unnaive.verify(model, known)
    with pytest.raises(SignatureError, match="has no password"):
        unnaive.sign(model, write_keys(tmp_path, style="PEM")[0], password="open")


def test_keys_that_cannot_be_used(tmp_path, model):
    rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    key, known = write_keys(tmp_path, secret=rsa.generate_private_key(rsa.SECP256R1()), style="PEM")
    with pytest.raises(SignatureError, match="not Ed25519; make one with ssh-keygen"):
        unnaive.sign(model, key)
    with pytest.raises(SignatureError, match="not Ed25519"):
        unnaive.verify(model, known)
    key, _ = write_keys(tmp_path)
    with pytest.raises(SignatureError, match="is a private key"):
        unnaive.verify(model, key)
    for content in (b"", b"ssh-ed25519 AAAA", b"-----BEGIN PUBLIC KEY-----\nAA\n", b"\xff\x00"):
        known.write_bytes(content)
        with pytest.raises(SignatureError, match="is not a public key that can be read"):
            unnaive.verify(model, known)
        with pytest.raises(SignatureError, match="is not a private key that can be read"):
            unnaive.sign(model, known)


def test_without_the_library(tmp_path, model, monkeypatch):
    key, _ = write_keys(tmp_path)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.serialization", None)
    with pytest.raises(SignatureError, match=r"pip install \"unnaive\[sign\]\""):
        unnaive.sign(model, key)


def test_the_commands(tmp_path, model):
    key, known = write_keys(tmp_path, password=b"open", style="PEM")
    signed = CliRunner().invoke(app, ["sign", str(model), "--key", str(key)], input="open\n")
    assert signed.exit_code == 0
    assert "model.unb.sig" in signed.stdout
    assert "as the owner of the key SHA256:" in run("verify", model, "-k", known).stdout
    assert '"key": "SHA256:' in run("verify", model, "-k", known, "--json").stdout
    model.write_bytes(model.read_bytes() + b"x")
    assert "was changed after it was signed" in fails("verify", model, "--key", known)
    assert "is an input and would be overwritten" in fails(
        "sign", model, "-k", key, "--signature", key
    )
