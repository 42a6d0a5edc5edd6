"""Waits until one of some files looks different. Imported only with `--reload`.

What counts is how the files look now: the operating system's messages only say when to look again, so that one that was lost costs
seconds and not the change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from watchfiles import awatch

from autotool.introspect.touched import fingerprint
from autotool.model import SourceFile

_LOOK_AGAIN_MS = 2_000
_SETTLE_MS = 60
"""Changes that come within this are one: an editor writes, renames and sets rights."""


async def changed(files: Sequence[SourceFile], suspects: Iterable[str] = ()) -> list[str]:
    """The paths of those of `files` that do not look as they did, as soon as there are some; sorted.

    Args:
        suspects: folders in which any new or changed module counts as well, because something in one of them is at fault.
    """
    known = {one.path: one for one in files}
    strangers = _modules(suspects)
    present = _present({str(Path(path).parent) for path in known} | set(suspects))
    stop = asyncio.Event()
    try:
        async for _ in awatch(
            *present,
            watch_filter=None,
            debounce=_SETTLE_MS,
            step=_SETTLE_MS // 2,
            stop_event=stop,
            rust_timeout=_LOOK_AGAIN_MS,
            yield_on_timeout=True,
            recursive=False,
            ignore_permission_denied=True,
        ):
            found = [path for path, one in known.items() if fingerprint(path) != one]
            found += _strange(strangers, suspects, known)
            if found:
                return sorted(found)
    finally:
        stop.set()
    raise asyncio.CancelledError  # the watcher was interrupted: the server is ending


def _present(folders: set[str]) -> list[str]:
    return [folder for folder in sorted(folders) if Path(folder).is_dir()]


def _modules(folders: Iterable[str]) -> dict[str, SourceFile]:
    paths = (path for folder in folders for path in Path(folder).glob("*.py*") if path.suffix in (".py", ".pyi"))
    return {str(path): fingerprint(str(path)) for path in paths}


def _strange(before: Mapping[str, SourceFile], folders: Iterable[str], known: Mapping[str, SourceFile]) -> list[str]:
    now = _modules(folders)
    return [path for path in {*before, *now} if path not in known and before.get(path) != now.get(path)]
