"""From what a function returned, or raised, to the `Outcome` that a client reads.

`None` reads as `null`, unless the function printed something: then what it printed is the answer.
"""

from __future__ import annotations

import asyncio
import collections.abc as abc
import inspect
import io
import logging
from dataclasses import dataclass
from typing import Any, cast

from pydantic_core import to_json

from autotool.model import Outcome
from autotool.schema.conformity import mismatch
from autotool.schema.results import ResultType
from autotool.worker import arrays, media
from autotool.worker.jsonable import MAX_ITEMS, Converter, NotRepresentable, clean_text, integer_text
from autotool.worker.outcomes import error_outcome, text_outcome

_log = logging.getLogger("autotool.results")

MAX_JSON_TEXT_BYTES = 100_000
"""The most bytes of JSON in a text block; the whole stands in the structured content."""
MAX_STRUCTURED_BYTES = 4 * 1024 * 1024 - 256 * 1024
_MAX_COLLECTED_BYTES = 4 * 1024 * 1024
_ITEM_BYTES = 48
_MAX_ERROR_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Collected:
    """The items of an iterator. `more` tells whether it went on."""

    items: list[Any]
    more: bool


async def settle(value: Any) -> Any:
    """Bring what only the loop can bring to its end: awaitables, and asynchronous iterators (to a bounded list)."""
    while inspect.isawaitable(value):
        value = await value
    if isinstance(value, abc.AsyncIterable):
        return await _collect_async(cast("abc.AsyncIterable[Any]", value))
    return value


async def _collect_async(source: abc.AsyncIterable[Any]) -> Collected:
    room = _Room()
    iterator = aiter(source)
    try:
        async for item in iterator:
            if not room.take(item):
                return Collected(room.items, more=True)
            await asyncio.sleep(0)
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()
    return Collected(room.items, more=False)


def _collect(source: abc.Iterator[Any]) -> Collected:
    room = _Room()
    for item in source:
        if not room.take(item):
            close = getattr(source, "close", None)
            if close is not None:
                close()
            return Collected(room.items, more=True)
    return Collected(room.items, more=False)


class _Room:
    """Items up to `MAX_ITEMS`, and up to about `_MAX_COLLECTED_BYTES` bytes of text."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self._bytes = 0

    def take(self, item: Any) -> bool:
        if len(self.items) >= MAX_ITEMS or self._bytes > _MAX_COLLECTED_BYTES:
            return False
        self.items.append(item)
        self._bytes += len(cast("str", item)) if isinstance(item, str | bytes | list | dict | tuple) else _ITEM_BYTES
        return True


def shape(value: Any, result: ResultType, *, max_output_bytes: int, captured: str = "") -> Outcome:
    """The outcome of a call that returned `value`.

    Args:
        captured: what the function printed.
    """
    if type(value) is str and result.allows_text:
        return _text(clean_text(value), max_output_bytes)
    if value is None and captured.strip() and result.json_schema is None:
        return _text(clean_text(captured), max_output_bytes)
    try:
        return _shape(value, result, max_output_bytes)
    except NotRepresentable as error:
        return error_outcome(f"The result cannot be sent as JSON: {error}.", error_type="NotRepresentable")


def _shape(value: Any, result: ResultType, max_output_bytes: int) -> Outcome:
    special = _special(value, max_output_bytes)
    if special is not None:
        return special
    more = False
    if isinstance(value, Collected):
        value, more = value.items, value.more
    elif isinstance(value, abc.Iterator) and not isinstance(value, io.IOBase):
        collected = _collect(cast("abc.Iterator[Any]", value))
        value, more = collected.items, collected.more
    converter = Converter()
    data = converter.convert(value)
    if isinstance(data, str):
        wrong = mismatch(data, result.json_schema) if result.json_schema is not None else ""
        return _mismatched(data, wrong) if wrong else _text(data, max_output_bytes)
    wrong = mismatch(data, result.json_schema) if result.json_schema is not None else ""
    if wrong:
        return _mismatched(data, wrong)
    shown = Converter(large_as_text=True).convert(data) if converter.found_large and not isinstance(data, int) else data
    if shown is not data and not result.promises_numbers:
        data = shown
    return _data(data, shown, more=more, has_schema=result.json_schema is not None)


def _special(value: Any, max_output_bytes: int) -> Outcome | None:
    """Results that are no JSON data: bytes, pictures, tables, files, and MCP content."""
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value), max_output_bytes)
    whole = media.mcp_result(value)
    if whole is not None:
        structured = whole.get("structuredContent")
        content = whole.get("content") or [media.text_block("")]
        return Outcome(
            bool(whole.get("isError")), to_json(content), None if structured is None else to_json(structured)
        )
    blocks = media.mcp_content(value)
    if blocks is not None:
        return Outcome(False, to_json(blocks))
    picture = media.as_png(value)
    if picture is not None:
        return Outcome(False, to_json(media.blocks_of(picture)))
    table = arrays.table_of(value)
    if table is not None:
        return _table(table, max_output_bytes)
    if isinstance(value, io.IOBase):
        return _file(value, max_output_bytes)
    return None


def _bytes(data: bytes, max_output_bytes: int) -> Outcome:
    if not media.media_type(data) and b"\x00" not in data:
        try:
            return _text(data.decode("utf-8"), max_output_bytes)
        except UnicodeDecodeError:
            pass
    if len(data) > MAX_STRUCTURED_BYTES // 4 * 3:
        return error_outcome(f"The result has {len(data)} bytes, more than can be sent. Ask for less at once.")
    return Outcome(False, to_json(media.blocks_of(data)))


def _file(file: Any, max_output_bytes: int) -> Outcome:
    try:
        data = file.read(max_output_bytes * 4) if file.readable() else ""
    except Exception as error:
        return failure(error)
    return _bytes(data, max_output_bytes) if isinstance(data, bytes) else _text(clean_text(str(data)), max_output_bytes)


def _table(table: arrays.Table, max_output_bytes: int) -> Outcome:
    records = Converter().convert(table.records)
    structured, kept = _fitting(records, MAX_STRUCTURED_BYTES)
    text = clean_text(table.text)
    if kept < table.total:
        text += f"\n[truncated: the structured content has the first {kept} of {table.total} rows]"
    outcome = _text(text, max_output_bytes)
    return Outcome(False, outcome.content, structured, truncated=kept < table.total or outcome.truncated)


def _text(text: str, max_output_bytes: int) -> Outcome:
    """A string is its own text; above the limit its head and tail, and how much is missing between them."""
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= max_output_bytes:
        return text_outcome(text, to_json(text))
    half = max(max_output_bytes // 2 - 64, 64)
    head, tail = encoded[:half].decode("utf-8", "ignore"), encoded[-half:].decode("utf-8", "ignore")
    head = head.rpartition("\n")[0] or head
    tail = tail.partition("\n")[2] or tail
    left_out = len(encoded) - len(head.encode()) - len(tail.encode())
    cut = f"{head}\n[… truncated: {left_out} of {len(encoded)} bytes are left out here …]\n{tail}"
    return text_outcome(cut, to_json(cut), truncated=True)


def _data(data: Any, shown: Any, *, more: bool, has_schema: bool) -> Outcome:
    """JSON data: the same in the text and in the structured content, each within its bound."""
    structured = to_json(data)
    text = structured if shown is data else to_json(shown)
    total = f"at least {len(data)}" if more else str(len(data)) if isinstance(data, list) else ""
    truncated = more
    note = f"the source went on; {len(data)} items were taken" if more else ""
    if len(text) > MAX_JSON_TEXT_BYTES:
        truncated = True
        text, note = _bounded_text(shown, text, total)
    if len(structured) > MAX_STRUCTURED_BYTES:
        if not isinstance(data, list):
            if has_schema:
                return error_outcome(
                    f"The result has {len(structured)} bytes of JSON, more than can be sent. Ask for less at once."
                )
            return text_outcome(f"{text.decode()}\n[truncated: {note}]", None, truncated=True)
        structured, kept = _fitting(cast("list[Any]", data), MAX_STRUCTURED_BYTES)
        note += f"; the structured content has the first {kept} of {total} items"
    words = integer_text(data) if type(data) is int else text.decode("utf-8")
    return text_outcome(f"{words}\n[truncated: {note}]" if truncated else words, structured, truncated=truncated)


def _bounded_text(shown: Any, text: bytes, total: str) -> tuple[bytes, str]:
    if isinstance(shown, list):
        head, kept = _fitting(cast("list[Any]", shown), MAX_JSON_TEXT_BYTES - 1_000)
        return head, f"{kept} of {total} items are shown; the structured content has more"
    head = text[: MAX_JSON_TEXT_BYTES - 1_000].decode("utf-8", "ignore").encode()
    return head, f"{len(head)} of {len(text)} bytes are shown; the structured content has the rest"


def _fitting(items: list[Any], max_bytes: int) -> tuple[bytes, int]:
    """The JSON array of as many first items as fit, and how many those are."""
    parts: list[bytes] = []
    size = 2
    for item in items:
        part = to_json(item)
        size += len(part) + 1
        if size > max_bytes:
            break
        parts.append(part)
    return b"[" + b",".join(parts) + b"]", len(parts)


def _mismatched(data: Any, wrong: str) -> Outcome:
    """A result that the function's own annotation excludes: the value is given, but not as a success."""
    _log.warning("a result does not match its published schema: %s", wrong)
    text = to_json(data).decode()
    shown = text if len(text) <= _MAX_ERROR_CHARS else text[:_MAX_ERROR_CHARS] + "…"
    return error_outcome(
        f"The function returned a value that its own declaration excludes ({wrong}). The value: {shown}",
        error_type="ResultMismatch",
        is_raised=True,
    )


def failure(error: BaseException, *, captured: str = "") -> Outcome:
    """The outcome of a call that raised `error`: its type and message, never its traceback.

    A `ToolError`, autotool's or another library's, is written for the caller; the words of all others are not.
    """
    if isinstance(error, SystemExit) and error.code in (None, 0):
        return (
            _text(clean_text(captured), 256_000)
            if captured.strip()
            else text_outcome("The function ended by `sys.exit()`.", b"null")
        )
    text = clean_text(_described(error))
    if isinstance(error, SystemExit) and captured.strip():
        text += f"\n{clean_text(captured[-_MAX_ERROR_CHARS:])}"
    is_meant = any(cls.__name__ == "ToolError" for cls in type(error).__mro__)
    return error_outcome(text, error_type=type(error).__name__, is_raised=not is_meant)


def _described(error: BaseException, depth: int = 0) -> str:
    name = type(error).__name__
    if isinstance(error, SystemExit):
        return f"SystemExit: the function ended by `sys.exit({error.code!r})`"
    try:
        message = str(error)
    except BaseException:  # a `__str__` can raise anything that its class can
        message = "(its message cannot be read)"
    if len(message) > _MAX_ERROR_CHARS:
        message = message[:_MAX_ERROR_CHARS] + "… (cut)"
    text = f"{name}: {message}" if message else name
    if isinstance(error, BaseExceptionGroup) and depth < 3:
        parts = [
            _described(part, depth + 1) for part in cast("BaseExceptionGroup[BaseException]", error).exceptions[:10]
        ]
        return "\n".join([text, *(f"  - {part}" for part in parts)])
    return text
