"""`autotool token`."""

from __future__ import annotations

import datetime
import os
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from autotool import config
from autotool.errors import ConfigError
from autotool.policy.access import check_name, digest_of, new_token, read_tokens


def new(name: str, file: str, scopes: Sequence[str], expires: str | None) -> None:
    """Make a token, write its digest to `file`, and print the token, once.

    Raises:
        ConfigError: the name is taken or none, or the file cannot be written.
    """
    check_name(name)
    for scope in scopes:
        check_name(scope)
    path = Path(file)
    if name == "local" or (path.exists() and any(token.name == name for token in read_tokens(path))):
        raise ConfigError(
            f"there is a token `{name}` already", hint="Take another name, or `autotool token revoke` it."
        )
    lines = ["", f'[tokens."{name}"]']
    token = new_token()
    lines.append(f'sha256 = "{digest_of(token)}"')
    lines.append(f"scopes = [{', '.join(f'{chr(34)}{scope}{chr(34)}' for scope in scopes)}]")
    if expires is not None:
        lines.append(f"expires = {_moment(expires)}")
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, ("\n".join(lines) + "\n").lstrip("\n" if not path.stat().st_size else "").encode())
        os.close(fd)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from None
    sys.stdout.write(f"{token}\n")
    sys.stderr.write(f"The token of `{name}`, shown this once; {path} keeps its digest only.\n")


def list_(file: str) -> None:
    """Print the names of the tokens in `file`.

    Raises:
        ConfigError: it cannot be read.
    """
    for token in read_tokens(Path(file)):
        until = ""
        if token.expires is not None:
            moment = datetime.datetime.fromtimestamp(token.expires, datetime.UTC)
            until = f"  {'expired' if token.expires <= time.time() else 'until'} {moment:%Y-%m-%d %H:%M} UTC"
        sys.stdout.write(f"{token.name}  [{', '.join(token.scopes)}]{until}\n")


def revoke(name: str, file: str) -> None:
    """Remove a token from `file`; a running server refuses it within a second.

    Raises:
        ConfigError: there is no such token.
    """
    path = Path(file)
    if all(token.name != name for token in read_tokens(path)):
        raise ConfigError(f"{path} has no token `{name}`", hint=f"`autotool token list --file {file}` shows the names.")
    text = path.read_text(encoding="utf-8")
    heading = re.compile(rf'^\[tokens\.(?:"{re.escape(name)}"|{re.escape(name)})\]\s*$', re.MULTILINE)
    found = heading.search(text)
    if found is None:
        raise ConfigError(f"{path}: the entry of `{name}` is not a section of its own", hint="Remove it by hand.")
    after = re.compile(r"^\[", re.MULTILINE).search(text, found.end())
    path.write_text(text[: found.start()] + (text[after.start() :] if after else ""), encoding="utf-8")
    sys.stderr.write(f"`{name}` is revoked.\n")


def _moment(text: str) -> str:
    """A date as it is, or a duration from now."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return text
    try:
        seconds = float(config.duration(text))
    except (ValueError, TypeError):
        raise ConfigError(
            f"--expires {text!r} is neither a date nor a duration", hint="For example 2027-01-31 or 90d."
        ) from None
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
