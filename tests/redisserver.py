"""A real Redis on a Unix socket, started by a test."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

BINARY = shutil.which("redis-server")
needs_redis = pytest.mark.skipif(
    BINARY is None, reason="there is no redis-server here (Debian: apt-get install redis-server)"
)


class RedisServer:
    """One server in `folder`. It begins empty unless it was told to save, and keeps nothing by itself."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "redis.sock"
        self.url = f"unix://{self.path}"
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *options: str) -> None:
        assert BINARY is not None
        words = [BINARY, "--port", "0", "--unixsocket", str(self.path), "--save", "", "--daemonize", "no", *options]
        self._process = subprocess.Popen(words, cwd=self._folder, stdout=subprocess.DEVNULL)
        while not self._answers():
            assert self._process.poll() is None

    def _answers(self) -> bool:
        try:
            with Redis.from_url(self.url) as client:
                return bool(client.ping())
        except RedisError:
            return False

    def all_keys(self) -> list[bytes]:
        with Redis.from_url(self.url) as client:
            return list(client.keys("*"))

    def save(self) -> None:
        """Write everything to a file, which the next start reads."""
        with Redis.from_url(self.url) as client:
            client.save()

    def flush(self) -> None:
        with Redis.from_url(self.url) as client:
            client.flushall()

    def hang(self) -> None:
        """It takes connections, and answers nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> RedisServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
