"""What runs behind a definition, told apart by the text of its source, which is the same under every Python."""

from __future__ import annotations

import functools
import hashlib
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any


def implementation_of(function: Callable[..., Any]) -> str:
    """A digest of the source of `function` and of what it wraps, "" where there is none (built-in functions).

    It covers the function's own lines, decorators included, and not what the function calls.
    """
    digest = hashlib.sha256()
    found = False
    for code in _codes(function):
        found = True
        digest.update(_text(code).encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}" if found else ""


def file_implementation(file: str) -> str:
    """A digest of a whole file, "" where it cannot be read."""
    try:
        text = Path(file).read_bytes() if file else b""
    except OSError:
        return ""
    return f"sha256:{hashlib.sha256(text.replace(bytes([13, 10]), bytes([10]))).hexdigest()}" if file else ""


def _codes(function: Any) -> Iterator[CodeType]:
    """The code of a callable, and of each callable that it stands for, outermost first."""
    seen: set[int] = set()
    while function is not None and id(function) not in seen:
        seen.add(id(function))
        if isinstance(function, functools.partial):
            function = function.func
            continue
        function = getattr(function, "__func__", function)
        code = getattr(function, "__code__", None)
        if isinstance(code, CodeType):
            yield code
        function = getattr(function, "__wrapped__", None)


def _text(code: CodeType) -> str:
    """The lines of a function as they stand in its file, at the margin; what was compiled where there is no file."""
    lines = _lines(code.co_filename)
    chosen = lines[code.co_firstlineno - 1 : _last_line(code)]
    if not chosen:
        return _compiled(code)
    return textwrap.dedent("\n".join(line.rstrip() for line in chosen))


@functools.lru_cache(maxsize=16)
def _lines(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="surrogateescape").splitlines())
    except OSError:
        return ()


def _last_line(code: CodeType) -> int:
    last = max((end or line or 0 for line, end, _, _ in code.co_positions()), default=code.co_firstlineno)
    inner = (_last_line(one) for one in code.co_consts if isinstance(one, CodeType))
    return max(last, code.co_firstlineno, *inner) if code.co_consts else max(last, code.co_firstlineno)


def _compiled(code: CodeType) -> str:
    constants = [_compiled(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {constants}"
