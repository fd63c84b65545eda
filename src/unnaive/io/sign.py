"""Signatures of files: who wrote a model, and that nobody changed it since.

The checksums inside a file find damage, but anyone can compute them again for other content. An
Ed25519 signature can only be made by the owner of a private key. It stands in a small text file
beside the signed one, so that the file itself is read as before.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode, b64encode
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from unnaive.exceptions import SignatureError
from unnaive.io.store import replacing

if TYPE_CHECKING:
    from os import PathLike
    from types import ModuleType

    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

_MARK = "unnaive-signature-1"  # also part of what is signed, so it is no signature of another use
_MAKE = "make one with ssh-keygen -t ed25519"


def sign(
    path: str | PathLike[str],
    key: str | PathLike[str],
    *,
    signature: str | PathLike[str] | None = None,
    password: str | None = None,
) -> Path:
    """Sign a file of a model, of counts, or any other file.

    Parameters
    ----------
    path : str or path
        The file to sign; it is not changed.
    key : str or path
        Your private Ed25519 key, as OpenSSH (``ssh-keygen -t ed25519``) or OpenSSL (PEM) writes it.
    signature : str or path, default=None
        The signature file. None: the name of the file, followed by ``.sig``.
    password : str, default=None
        The password of the key, if it has one.

    Returns
    -------
    Path
        The signature file.

    Raises
    ------
    SignatureError
        If the key cannot be used; the message has the reason and the cure.

    See Also
    --------
    verify : Check a signature.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from cryptography.hazmat.primitives import serialization as form
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> secret = Ed25519PrivateKey.generate()
    >>> how = (form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    >>> public = secret.public_key().public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    >>> with TemporaryDirectory() as folder:
    ...     model, key, known = (Path(folder, name) for name in ("nb.unb", "key", "key.pub"))
    ...     _ = key.write_bytes(secret.private_bytes(*how)), known.write_bytes(public)
    ...     _ = model.write_text("a model")
    ...     sign(model, key).name
    ...     verify(model, known)[:7]
    ...     _ = model.write_text("another model")
    ...     verify(model, known)
    Traceback (most recent call last):
    unnaive.exceptions.SignatureError: .../nb.unb was changed after it was signed; ...
    """
    private = _private_key(Path(key), password)
    target = _signature_path(path, signature)
    sealed = private.sign(_message(Path(path)))
    words = [_MARK, _fingerprint(private.public_key()), b64encode(sealed).decode()]
    with replacing(target) as stream:
        stream.write(f"{' '.join(words)}\n".encode())
    return target


def verify(
    path: str | PathLike[str],
    key: str | PathLike[str],
    *,
    signature: str | PathLike[str] | None = None,
) -> str:
    """Check that a file is the one that the owner of a key signed.

    Parameters
    ----------
    path : str or path
        The signed file.
    key : str or path
        The public Ed25519 key of the signer, in OpenSSH or PEM format. Get it from the signer, not
        from where the file comes from.
    signature : str or path, default=None
        The signature file. None: the name of the file, followed by ``.sig``.

    Returns
    -------
    str
        The fingerprint of the key, as ``ssh-keygen -l`` shows it.

    Raises
    ------
    SignatureError
        If the file was changed, another key signed it, or there is no signature.

    See Also
    --------
    sign : Sign a file.

    Examples
    --------
    >>> verify("model.unb", "no such key.pub")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no such key.pub'
    """
    public = _public_key(Path(key))
    fingerprint, beside = _fingerprint(public), _signature_path(path, signature)
    if not beside.exists():
        cure = "sign the file with unnaive sign, or name its signature"
        raise SignatureError(f"{path} has no signature file {beside}; {cure}")
    signer, sealed = _parse(beside)
    invalid = _library("exceptions").InvalidSignature
    try:
        public.verify(sealed, _message(Path(path)))
    except invalid:
        what = f"{path} was changed after it was signed; do not use it, ask the signer for a copy"
        if signer != fingerprint:
            what = f"{path} was signed by the key {signer}, not by {fingerprint}; do not use it"
        raise SignatureError(what) from None
    return fingerprint


def _signature_path(path: str | PathLike[str], given: str | PathLike[str] | None) -> Path:
    return Path(f"{Path(path)}.sig") if given is None else Path(given)


def _message(path: Path) -> bytes:
    """Return what is signed: a mark and the SHA-512 of the file, which may not fit into memory."""
    with path.open("rb") as stream:
        return f"{_MARK} {hashlib.file_digest(stream, 'sha512').hexdigest()}".encode()


def _parse(path: Path) -> tuple[str, bytes]:
    """Return the fingerprint of the signer, which proves nothing, and the signature."""
    words = path.read_bytes()[:1000].decode("ascii", errors="replace").split()
    if len(words) == 3 and words[0] == _MARK and words[1].isprintable():
        with suppress(binascii.Error, ValueError):
            return words[1][:60], b64decode(words[2], validate=True)
    raise SignatureError(f"{path} is not a signature of unnaive; sign the file again")


def _library(module: str) -> ModuleType:
    try:
        return import_module(f"cryptography.{module}")
    except ImportError as error:
        cure = 'pip install "unnaive[sign]"'
        raise SignatureError(f"signatures need the package cryptography; {cure}") from error


def _private_key(path: Path, password: str | None) -> Ed25519PrivateKey:
    load = _library("hazmat.primitives.serialization")
    content, secret = path.read_bytes(), None if password is None else password.encode()
    ssh = b"OPENSSH PRIVATE KEY" in content
    try:
        key = (load.load_ssh_private_key if ssh else load.load_pem_private_key)(content, secret)
    except TypeError as error:
        what = "has a password; give it" if password is None else "has no password; give none"
        raise SignatureError(f"the key {path} {what}", needs_password=password is None) from error
    except (ValueError, _library("exceptions").UnsupportedAlgorithm) as error:
        what = f"{path} is not a private key that can be read, or the password is wrong"
        raise SignatureError(f"{what}; name your private Ed25519 key, or {_MAKE}") from error
    _require_ed25519(key, "Ed25519PrivateKey", path)
    return cast("Ed25519PrivateKey", key)


def _public_key(path: Path) -> Ed25519PublicKey:
    load, content = _library("hazmat.primitives.serialization"), path.read_bytes()
    if b"PRIVATE KEY" in content:
        cure = "name the public one, such as id_ed25519.pub"
        raise SignatureError(f"{path} is a private key, which only its owner should have; {cure}")
    pem = b"-----BEGIN" in content
    try:
        key = (load.load_pem_public_key if pem else load.load_ssh_public_key)(content.strip())
    except (ValueError, _library("exceptions").UnsupportedAlgorithm) as error:
        what = f"{path} is not a public key that can be read"
        raise SignatureError(f"{what}; name the signer's, such as id_ed25519.pub") from error
    _require_ed25519(key, "Ed25519PublicKey", path)
    return cast("Ed25519PublicKey", key)


def _require_ed25519(key: object, wanted: str, path: Path) -> None:
    if not isinstance(key, getattr(_library("hazmat.primitives.asymmetric.ed25519"), wanted)):
        kind = type(key).__name__.lstrip("_").removesuffix("PrivateKey").removesuffix("PublicKey")
        raise SignatureError(f"{path} is a key of type {kind}, not Ed25519; {_MAKE}")


def _fingerprint(key: Ed25519PublicKey) -> str:
    form = _library("hazmat.primitives.serialization")
    line = key.public_bytes(form.Encoding.OpenSSH, form.PublicFormat.OpenSSH)
    digest = hashlib.sha256(b64decode(line.split()[1])).digest()
    return f"SHA256:{b64encode(digest).decode().rstrip('=')}"
