"""Runs the HTTP application on a port or a Unix socket until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import socket
import stat
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import uvicorn

from autotool.errors import TransportError

DRAIN_S = 10
"""Seconds for which calls in flight may go on after SIGTERM."""


def bind(host: str, port: int, uds: str = "") -> socket.socket:
    """A listening socket; port 0 lets the system choose.

    Raises:
        TransportError: the address is taken or not allowed.
    """
    return _bind_unix(uds) if uds else _bind_tcp(host, port)


def _bind_tcp(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise TransportError(
                f"port {port} on {host} is in use", hint="Choose another with --port, or --port 0 for a free one."
            ) from None
        raise TransportError(
            f"cannot listen on {host}:{port}: {error.strerror or error}", hint="Check --host and --port."
        ) from None
    return listening


def _bind_unix(path: str) -> socket.socket:
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(Path(path).stat().st_mode) and not _is_answered(path):
            Path(path).unlink()
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        listening.bind(path)
    except OSError as error:
        raise TransportError(
            f"cannot listen on the socket {path}: {error.strerror or error}", hint="Choose another path with --uds."
        ) from None
    finally:
        os.umask(mask)
    listening.listen(2048)
    return listening


def _is_answered(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == 0


class _Server(uvicorn.Server):
    """uvicorn without its habit of dying by the signal that stopped it: a server that was asked to end has not failed."""

    def __init__(self, config: uvicorn.Config, on_stopping: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stopping = on_stopping

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError, RuntimeError):
                loop.add_signal_handler(number, self._stop)
        yield

    def _stop(self) -> None:
        if self.should_exit:
            os._exit(0)
        self.should_exit = True
        self._on_stopping()


async def serve_http(
    app: Any,
    listening: socket.socket,
    on_listening: Callable[[], None],
    on_stopping: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGTERM or SIGINT; then finish what is under way, for at most `DRAIN_S` seconds.

    Args:
        on_stopping: called at the signal; ends streams that would not end by themselves.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_S,
        timeout_keep_alive=30,
        server_header=False,
        date_header=False,
    )
    server = _Server(config, on_stopping)
    started = asyncio.get_running_loop().create_task(server.serve(sockets=[listening]))
    while not server.started and not started.done():
        await asyncio.sleep(0.005)
    if server.started:
        on_listening()
    await started


def run(main: Callable[[], Any]) -> None:
    """Run the coroutine that `main` makes, on uvloop where it is installed."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main())
    else:
        uvloop.run(main())
