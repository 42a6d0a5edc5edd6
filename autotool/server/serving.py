"""A running server, and the way down again."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import replace

from autotool.errors import TransportError
from autotool.runtime.service import ToolService
from autotool.runtime.spawn import Launched
from autotool.server.assembly import Application, assemble, hold_to_lock
from autotool.server.plan import Plan, executor_for
from autotool.server.policies import bearer

_log = logging.getLogger("autotool.server")

_WARM_UP_S = 0.2
"""After which what only calls need is imported, when no call has come yet."""


def report_start(application: Application) -> None:
    """Say in the log what a person should know about the catalog."""
    for refusal in application.catalog.refusals:
        _log.warning("not served: %s: %s", refusal.subject, refusal.reason)
    for warning in application.catalog.warnings:
        _log.warning("%s", warning)


async def serve_stdio(
    plan: Plan, reading: int, writing: int, launched: Launched | None, make_plan: Callable[[], Plan]
) -> int:
    """Serve one client on two file descriptors until its input ends; gives the number of its messages.

    Args:
        make_plan: reads the plan again, for a reload.

    Raises:
        OperatorError: it cannot start.
    """
    from autotool.transports.stdio import serve_stdio as serve

    async def transport(application: Application) -> int:
        return (await serve(application.dispatcher, reading, writing)).messages

    return await _running(plan, launched, transport, make_plan)


async def serve_http(
    plan: Plan,
    launched: Launched | None,
    on_listening: Callable[[Application, str], None],
    make_plan: Callable[[], Plan],
) -> None:
    """Serve over HTTP until a signal ends it; `on_listening` gets the application and the address.

    Args:
        make_plan: reads the plan again, for a reload.

    Raises:
        OperatorError: it cannot start.
    """
    from autotool.transports import listen
    from autotool.transports.http import PATH, create_app
    from autotool.transports.security import LOOPBACK, HttpLimits

    server = plan.config.server
    listening = listen.bind(server.host, server.port, server.uds)
    is_local = bool(server.uds) or server.host in LOOPBACK
    has_auth = bool(plan.config.auth.tokens or plan.config.auth.issuer)
    if not is_local and not has_auth and not plan.config.auth.open:
        raise TransportError(
            f"{server.host} can be reached from other machines, and nobody would have to say who they are",
            hint="Give out tokens (`autotool token new NAME`, `[auth] tokens`), or say `--no-auth` if something in front of it asks.",
        )
    limits = HttpLimits(server.hosts, server.origins, loopback=is_local)
    port = 0 if server.uds else listening.getsockname()[1]
    host = f"[{server.host}]" if ":" in server.host else server.host
    address = f"unix:{server.uds}" if server.uds else f"http://{host}:{port}{PATH}"

    async def transport(application: Application) -> int:
        app = create_app(application.dispatcher, limits, bearer(plan.config, address))
        feed = application.dispatcher.methods.feed
        await listen.serve_http(app, listening, lambda: on_listening(application, address), feed.close)
        return 0

    try:
        await _running(plan, launched, transport, make_plan)
    finally:
        listening.close()


async def _running(
    plan: Plan,
    launched: Launched | None,
    transport: Callable[[Application], Awaitable[int]],
    make_plan: Callable[[], Plan],
) -> int:
    executor = executor_for(plan, launched)
    # Reading thousands of tools makes objects that all stay: looking through them for garbage would find none.
    gc.disable()
    try:
        application = await assemble(plan, executor)
        hold_to_lock(plan.config, application.catalog)
        gc.freeze()
        gc.enable()
        report_start(application)
        if application.kept.storage is not None:
            application.kept.storage.look()
        warm_up = asyncio.get_running_loop().call_later(_WARM_UP_S, _warm_up, application.service)
        try:
            async with _reloading(application, plan, make_plan):
                return await transport(application)
        finally:
            warm_up.cancel()
            await application.kept.close()
    finally:
        await executor.stop(0.0)


@contextlib.asynccontextmanager
async def _reloading(application: Application, plan: Plan, make_plan: Callable[[], Plan]) -> AsyncGenerator[None]:
    """Keep the tools up to date in the meantime, where that is wanted."""
    if not plan.reload:
        yield
        return
    from autotool.server.reloading import Reloader

    reloader = Reloader(application, plan, make_plan)
    watching = asyncio.get_running_loop().create_task(reloader.run())
    watching.add_done_callback(_report_end)
    try:
        yield
    finally:
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError, Exception):
            await watching
        await reloader.stop()


def _report_end(watching: asyncio.Task[None]) -> None:
    if not watching.cancelled() and watching.exception() is not None:
        _log.error("files are no longer watched, because of a fault in autotool", exc_info=watching.exception())


def _warm_up(service: ToolService) -> None:
    threading.Thread(target=service.warm_up, name="autotool-warm-up", daemon=True).start()


def describe(plan: Plan) -> tuple[Application, asyncio.AbstractEventLoop]:
    """An application in this process, for the commands that look at tools or run one, and the loop it lives in.

    Raises:
        OperatorError: it cannot start.
    """
    loop = asyncio.new_event_loop()
    local = replace(plan, inline=True)
    executor = executor_for(local)
    try:
        return loop.run_until_complete(assemble(local, executor)), loop
    except BaseException:
        loop.run_until_complete(executor.stop())
        raise


def close(application: Application, loop: asyncio.AbstractEventLoop) -> None:
    """End what `describe` started."""
    loop.run_until_complete(application.kept.close())
    loop.run_until_complete(application.executor.stop())
    loop.close()
