"""``unnaive sign`` and ``unnaive verify``: who wrote a file, and that nobody changed it since."""

from pathlib import Path
from typing import Annotated

import typer

from unnaive.cli import options
from unnaive.cli.options import option
from unnaive.cli.output import require_writable
from unnaive.cli.terminal import print_json, tell

File = Annotated[Path, typer.Argument(metavar="FILE", help="Model, counts, or any other file.")]
Signature = Annotated[
    Path | None, option("--signature", "FILE", "Signature file. Default: the FILE with .sig.")
]


def sign(
    file: File,
    key: Annotated[Path, option("--key -k", "KEY", "Your private Ed25519 key.")],
    signature: Signature = None,
    json: options.AsJson = False,
) -> None:
    """Sign a file with your private key.

    The file does not change; the signature is written beside it. A key of OpenSSH or OpenSSL (PEM)
    will do, also with a password. To make one:

    ssh-keygen -t ed25519

    Examples
    --------
    unnaive sign patients.unb --key ~/.ssh/id_ed25519
    unnaive sign patients.unb --key signer.pem --signature patients.sig
    """
    from unnaive.exceptions import SignatureError  # noqa: PLC0415 - see app.py
    from unnaive.io import sign as signing  # noqa: PLC0415

    require_writable(signature or Path(f"{file}.sig"), file, key)
    try:
        made = signing.sign(file, key, signature=signature)
    except SignatureError as error:
        if not error.needs_password:
            raise
        password = typer.prompt(f"password of {key}", hide_input=True, err=True)
        made = signing.sign(file, key, signature=signature, password=password)
    if json:
        print_json({"file": str(file), "signature": str(made)})
    else:
        tell(f"{file} is signed: give away {made} and your public key with it")


def verify(
    file: File,
    key: Annotated[Path, option("--key -k", "KEY", "The public Ed25519 key of the signer.")],
    signature: Signature = None,
    json: options.AsJson = False,
) -> None:
    """Check that a file is the one that the owner of a key signed.

    Get the public key from the signer, not from where the file comes from. If the file was changed
    or another key signed it, the exit code is 1.

    Examples
    --------
    unnaive verify patients.unb --key signer.pub && unnaive predict patients.unb new.csv
    """
    from unnaive.io import sign as signing  # noqa: PLC0415 - see app.py

    fingerprint = signing.verify(file, key, signature=signature)
    if json:
        print_json({"file": str(file), "key": fingerprint})
    else:
        tell(f"{file} is as the owner of the key {fingerprint} signed it")
