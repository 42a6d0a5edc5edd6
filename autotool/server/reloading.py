"""Reads the tools again when a file of theirs changes: a new worker beside the old one, and calls in flight end where they began."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from autotool.catalog import Catalog
from autotool.config import Config
from autotool.errors import OperatorError
from autotool.introspect.touched import fingerprint
from autotool.model import SourceFile
from autotool.runtime.ports import Executor
from autotool.runtime.service import ToolService
from autotool.server.assembly import Application, Offer, hold_to_lock, offered
from autotool.server.plan import Plan, executor_for

_log = logging.getLogger("autotool.reload")

MOST_OLD = 8
"""Workers of earlier reloads whose calls still run; the next reload waits for one of them."""

_AT_START: dict[str, tuple[str, ...]] = {
    "server": ("name", "transport", "host", "port", "uds", "hosts", "origins", "key", "storage"),
    "tools": ("locked", "lock"),
    "auth": (),
    "audit": ("path", "max_size", "on_failure"),
    "approval": ("ttl", "socket", "key"),
}
"""Settings that are read once, by section; () stands for all of a section."""


class Reloader:
    """Keeps a running application up to date with its files.

    Args:
        application: it, as it was started.
        plan: what it was started with.
        make_plan: reads the command line and the config file again.
    """

    def __init__(self, application: Application, plan: Plan, make_plan: Callable[[], Plan]) -> None:
        self._application = application
        self._started_with = plan.config
        self._plan = plan
        self._make_plan = make_plan
        self._catalog = application.catalog
        self._service = application.service
        self._executor = application.executor
        self._files = self._watched(application.files)
        self._suspects: tuple[str, ...] = ()
        self._said: list[str] = []
        self._old: dict[asyncio.Task[None], Executor] = {}

    async def run(self) -> None:
        """Watch and reload until cancelled."""
        from autotool.runtime.watching import changed

        _log.info("watching %s", _few(Path(one.path).name for one in self._files))
        while True:
            paths = await changed(self._files, self._suspects)
            _log.info("%s changed", _few(Path(path).name for path in paths))
            while len(self._old) >= MOST_OLD:
                _log.warning("%d earlier versions still run calls; the reload waits for one of them", len(self._old))
                await asyncio.wait(self._old, return_when=asyncio.FIRST_COMPLETED)
            # What changes from here on is found by the next look.
            self._files = tuple(fingerprint(one.path) for one in self._files)
            await self._reload()

    async def _reload(self) -> None:
        began = time.perf_counter()
        executor: Executor | None = None
        try:
            plan = self._make_plan()
            executor = executor_for(plan)
            offer = await offered(plan, executor, self._application.kept)
            hold_to_lock(self._started_with, offer.catalog)
        except OperatorError as error:
            await self._keep_last(error, executor)
            return
        except BaseException:
            if executor is not None:
                await executor.stop()
            raise
        self._report_restart(plan.config)
        self._take(plan, executor, offer, time.perf_counter() - began)

    async def _keep_last(self, error: OperatorError, executor: Executor | None) -> None:
        """A reload that fails changes nothing; what is at fault may be a file that was not watched before."""
        hint = f" {error.hint}" if error.hint else ""
        _log.error("not reloaded: %s.%s The tools stay as they were.", error.message.rstrip("."), hint)
        known = {one.path for one in self._files}
        self._files += tuple(fingerprint(path) for path in sorted(set(error.files) - known))
        self._suspects = tuple(sorted({str(Path(one.path).parent) for one in self._files if one.path.endswith("py")}))
        if executor is not None:
            await executor.stop()

    def _take(self, plan: Plan, executor: Executor, offer: Offer, seconds: float) -> None:
        before, old_service, old_executor = self._catalog, self._service, self._executor
        self._plan, self._catalog, self._service, self._executor = plan, offer.catalog, offer.service, executor
        self._files = self._watched(offer.description.files)
        self._suspects = self._package_folders(plan)
        told = self._application.dispatcher.methods.replace(offer.service, offer.settings)
        _log.info("reloaded in %.2f s: %s", seconds, _difference(before, offer.catalog))
        if told:
            _log.info("told %d listening %s", told, "client" if told == 1 else "clients")
        _report(offer.catalog, before)
        gc.freeze()
        task = asyncio.get_running_loop().create_task(_end(old_service, old_executor))
        self._old[task] = old_executor
        task.add_done_callback(lambda ended: self._old.pop(ended, None))

    def _watched(self, files: tuple[SourceFile, ...]) -> tuple[SourceFile, ...]:
        tools = self._started_with.tools
        further = [self._plan.config_file, str(Path(tools.lock).absolute()) if tools.locked else ""]
        return (*files, *(fingerprint(path) for path in further if path))

    def _package_folders(self, plan: Plan) -> tuple[str, ...]:
        """With `--recursive` a new module in a package is one of its tools."""
        if not plan.selection.recursive:
            return ()
        return tuple(sorted({str(Path(one.path).parent) for one in self._files if one.path.endswith(".py")}))

    def _report_restart(self, config: Config) -> None:
        names = changed_at_start(self._started_with, config)
        for name in names:
            if name not in self._said:
                _log.warning("`%s` has changed in the config, which takes a restart; until then it is as it was", name)
        self._said = names

    async def stop(self) -> None:
        """End what still runs of every version but the first, which whoever started it ends."""
        for task, executor in list(self._old.items()):
            task.cancel()
            if executor is not self._application.executor:
                await executor.stop()
        if self._executor is not self._application.executor:
            await self._executor.stop()


async def _end(service: ToolService, executor: Executor) -> None:
    """Let the calls that began on an earlier version end, each in its own time limit; then end its worker."""
    await service.idle()
    await executor.stop()


def changed_at_start(before: Config, after: Config) -> list[str]:
    """The settings that differ and are read once only, as `section.key`."""
    found: list[str] = []
    for section, keys in _AT_START.items():
        old: Any = getattr(before, section)
        new: Any = getattr(after, section)
        names = keys or tuple(one.name for one in fields(old))
        found += [f"{section}.{name}" for name in names if getattr(old, name) != getattr(new, name)]
    return found


def _difference(before: Catalog, after: Catalog) -> str:
    old = {tool.name: before.digest_of(tool) for tool in before.tools}
    new = {tool.name: after.digest_of(tool) for tool in after.tools}
    parts = [
        f"{word} {_few(f'`{name}`' for name in names)}"
        for word, names in (
            ("new", [name for name in new if name not in old]),
            ("gone", [name for name in old if name not in new]),
            ("changed", [name for name in new if name in old and old[name] != new[name]]),
        )
        if names
    ]
    return "; ".join(parts) or "no tool has changed"


def _report(now: Catalog, before: Catalog) -> None:
    """What a person should know that was not so before."""
    for refusal in now.refusals:
        if refusal not in before.refusals:
            _log.warning("not served: %s: %s", refusal.subject, refusal.reason)
    known = set(before.warnings)
    for warning in now.warnings:
        if warning not in known:
            _log.warning("%s", warning)


def _few(names: Iterable[str]) -> str:
    listed = list(names)
    return ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")
