"""Masks secrets in text that leaves. Each mask says what kind it hid, so that a false one can be seen.

This is a net under careful code, not a wall: what has no known shape, name or value passes.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import cast

from autotool.errors import ConfigError
from autotool.policy.ownpatterns import MARK, OwnPatterns, Search
from autotool.policy.sanitize import read_json_string
from autotool.policy.tokens import SECRET_KINDS, SHAPES, Shape, is_secret_value, is_secret_variable, secret_kind

_SHORTEST_SECRET = 8
_SHORTEST_NAMED = 4

# Part of every secret name, in lower case; what follows it and stands before it decides in `secret_kind`.
_NAME_PARTS = (
    "passw", "pwd", "passphrase", "passcode", "secret", "token", "api_key", "api-key", "apikey", "access_key",
    "access-key", "accesskey", "private_key", "private-key", "privatekey", "account_key", "accountkey",
    "signing_key", "encryption_key", "credential", "authorization",
)  # fmt: skip
_PAIR = re.compile(
    rf"(?:{'|'.join(_NAME_PARTS)})[A-Za-z0-9_]{{0,16}}+"
    r"(?P<mark>\\?[\"'`]?[ \t]{0,8}+(?:=>|:=|==?|:)[ \t]{0,8}+)"
    r"(?:(?P<quote>\\?[\"'])(?P<quoted>[^\"'\\\r\n]{1,1024}+)|(?P<bare>[^\s\"'`,;&(){}<>\\]{1,1024}+))",
    re.IGNORECASE,
)
# Read backwards from where the name begins.
_KEY_HEAD = re.compile(r"[A-Za-z0-9_.-]*+")
_KEY_HEAD_LENGTH = 48
_PROSE = re.compile(r"[ \t]+[A-Za-z]")
_JSON_STRING = re.compile(rb'("(?:[^"\\]++|\\.)*+")(\s*+:)?', re.DOTALL)
_URL_PASSWORD = re.compile(r"://[^\s/:@]{0,256}:([^\s/]{1,512})@")
_PLAIN = re.compile(r"[A-Za-z]+|[0-9.,:+-]+|(?:~|\.{1,2})?[/\\].*|[A-Za-z]:[/\\].*|[a-z+]+://[^@]*", re.DOTALL)


class Redactor:
    """Masks what looks like a secret, is known to be one, or stands beside the name of one.

    Args:
        patterns: regular expressions of the person's own; each match is masked as a whole.
        secrets: values that must never leave, or a mapping of the names they are told by to the values.
        ignore: kinds that are not masked, as the masks name them.

    Raises:
        ConfigError: a pattern is not a regular expression, or matches the empty text; a kind does not exist.
    """

    def __init__(
        self,
        patterns: Sequence[str] = (),
        secrets: Iterable[str] | Mapping[str, str] = (),
        ignore: Iterable[str] = (),
    ) -> None:
        self._ignored = _known_kinds(ignore)
        self._own = OwnPatterns(() if "configured pattern" in self._ignored else patterns)
        named = secrets if isinstance(secrets, Mapping) else dict.fromkeys(secrets, "")
        values = _by_value(cast("Mapping[str, str]", named), isinstance(secrets, Mapping))
        kept = [item for item in values.items() if item[1] not in self._ignored]
        self._secrets = tuple(sorted(kept, key=lambda item: -len(item[0])))
        self._json_secrets = tuple(
            {form.encode("utf-8", "surrogatepass") for value, _ in self._secrets for form in _json_forms(value)}
        )

    def clean(self, text: str) -> str:
        """The text with secrets masked; the same object when there are none."""
        return self._cleaned(text, self._looks(text.encode("utf-8", "surrogatepass")), self._own.begin())

    def clean_json(self, data: bytes) -> bytes:
        """Mask secrets in every string of serialised JSON; the same object when there are none.

        A member's value is masked whole where its key names a secret. Everything else stays byte for byte.
        """
        looks = self._looks(data)
        sought = (*looks.marks, *looks.names, *(one for one in self._json_secrets if one in data))
        if not (sought or self._own):
            return data
        suspicious = _any_of(() if self._own else sought)
        search = self._own.begin()
        kind, key_end = "", -1

        def masked(match: re.Match[bytes]) -> bytes:
            nonlocal kind, key_end
            token, colon = match.group(1), match.group(2)
            own_kind = ""
            if colon is not None:
                kind, key_end = (_kind_of_key(token) if looks.names else ""), match.end()
            elif kind and not data[key_end : match.start()].strip():
                own_kind = kind
            if not own_kind and suspicious.search(token) is None:
                return match.group()
            text = read_json_string(token)
            cleaned = self._member(text, own_kind, looks, search)
            if cleaned == text:
                return match.group()
            return json.dumps(cleaned, ensure_ascii=False).encode("utf-8", "replace") + (colon or b"")

        result = _JSON_STRING.sub(masked, data)
        return data if result == data else result

    def _looks(self, data: bytes) -> _Looks:
        looks = _looks(data)
        if not self._ignored or not looks.shapes:
            return looks
        return replace(looks, shapes=tuple(one for one in looks.shapes if one.kind not in self._ignored))

    def _cleaned(self, text: str, looks: _Looks, search: Search) -> str:
        for value, kind in self._secrets:
            if value in text:
                text = text.replace(value, _mark(kind))
        text = search.masked(text)
        for shape in looks.shapes:
            if any(mark in text for mark in shape.marks):
                text = shape.pattern.sub(lambda match, kind=shape.kind: _masked(match, kind), text)
        return _PAIR.sub(self._masked_pair, text) if looks.names else text

    def _member(self, value: str, kind: str, looks: _Looks, search: Search) -> str:
        if kind and kind not in self._ignored and not value.startswith(MARK) and is_secret_value(value, kind):
            return _mark(kind)
        return self._cleaned(value, looks, search)

    def _masked_pair(self, match: re.Match[str]) -> str:
        whole, text, start = match.group(), match.string, match.start()
        name = whole[: match.start("mark") - start]
        head = _KEY_HEAD.match(text[max(0, start - _KEY_HEAD_LENGTH) : start][::-1])
        kind = secret_kind((head.group()[::-1] if head else "") + name)
        value = match.group("quoted") or match.group("bare")
        if not kind or kind in self._ignored or not is_secret_value(value, kind) or _is_prose(match, value):
            return whole
        return f"{whole[: len(whole) - len(value)]}{_mark(kind)}"


def _mark(kind: str) -> str:
    return f"{MARK}{kind}]"


def _known_kinds(named: Iterable[str]) -> frozenset[str]:
    kinds = frozenset(named)
    for kind in kinds:
        if kind not in SECRET_KINDS and not kind.startswith("value of "):
            near = difflib.get_close_matches(kind, SECRET_KINDS, n=1)
            known = ", ".join(f"`{one}`" for one in sorted(SECRET_KINDS, key=str.lower))
            raise ConfigError(
                f"`[redact] ignore`: no mask says `{kind}`",
                hint=f"Did you mean `{near[0]}`?" if near else f"There are {known}, and `value of NAME`.",
            )
    return kinds


@functools.lru_cache(maxsize=1024)
def _kind_of_key(token: bytes) -> str:
    # The rows of a table have the same keys again and again.
    return secret_kind(read_json_string(token))


@dataclass(frozen=True, slots=True)
class _Looks:
    """What of all that is looked for occurs in some text at all: most of it never does."""

    marks: tuple[bytes, ...]
    names: tuple[bytes, ...]
    shapes: tuple[Shape, ...]


def _looks(data: bytes) -> _Looks:
    marks = tuple(mark for gate, group in _GATED_MARKS if not gate or gate in data for mark in group if mark in data)
    lowered = data.lower()
    names = tuple(part for part in _NAME_BYTES if part in lowered) if _has_any(lowered, _NAME_HINTS) else ()
    shapes = tuple(shape for shape in SHAPES if any(mark.encode() in marks for mark in shape.marks)) if marks else ()
    return _Looks(marks, names, shapes)


@functools.lru_cache(maxsize=64)
def _any_of(words: tuple[bytes, ...]) -> re.Pattern[bytes]:
    return re.compile(b"|".join(map(re.escape, words)), re.IGNORECASE)


def _gated_marks() -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
    """The marks by a character that each has: looking for one character is much cheaper than for a word."""
    groups: dict[bytes, list[bytes]] = {}
    for mark in sorted({mark.encode() for shape in SHAPES for mark in shape.marks}):
        gate = next((bytes([char]) for char in mark if char in b"_-:. "), b"")
        groups.setdefault(gate, []).append(mark)
    return tuple((gate, tuple(marks)) for gate, marks in groups.items())


def _has_any(data: bytes, words: Sequence[bytes]) -> bool:
    return any(word in data for word in words)


_GATED_MARKS = _gated_marks()
_NAME_BYTES = tuple(part.encode() for part in _NAME_PARTS)
# Each name has one of these in it.
_NAME_HINTS = (b"key", b"pass", b"pwd", b"secret", b"token", b"credential", b"authorization")


def environment_secrets(environ: Mapping[str, str], further: Sequence[str] = ()) -> dict[str, str]:
    """Values of variables named as secrets, and passwords in their URLs, by the name of the variable.

    Left out, because masking them would harm honest output: values under 8 characters, plain words, numbers,
    paths, and addresses without a password. Of variables that `further` (globs) names, only values under 4 characters.
    """
    found: dict[str, str] = {}
    for name, value in environ.items():
        if len(value) >= _SHORTEST_NAMED and any(fnmatchcase(name, glob) for glob in further):
            found[name] = value
            continue
        password = _URL_PASSWORD.search(value)
        secret = password.group(1) if password else value if is_secret_variable(name) else ""
        if len(secret) >= _SHORTEST_SECRET and not _PLAIN.fullmatch(secret):
            found[name] = secret
    return found


def _by_value(named: Mapping[str, str], has_names: bool) -> dict[str, str]:
    if has_names:
        return {value: f"value of {name}" for name, value in named.items() if value}
    return {value: "secret" for value in named if value}


def _json_forms(value: str) -> tuple[str, str]:
    return json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]


def _masked(match: re.Match[str], kind: str) -> str:
    whole = match.group()
    if match.re.groups == 0:
        return _mark(kind)
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return f"{whole[:start]}{_mark(kind)}{whole[end:]}"


def _is_prose(match: re.Match[str], value: str) -> bool:
    """Whether an unquoted value is a word of a sentence (`password: the one`) or a folder (`pwd=/srv`)."""
    if match.group("bare") is None:
        return False
    if value.startswith(("/", "~", ".")) or value.endswith("."):
        return True
    is_word = value.isalpha() or len(value) < 3
    return is_word and ":" in match.group("mark") and _PROSE.match(match.string, match.end()) is not None
