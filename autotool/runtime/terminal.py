"""Approvals at the server's own terminal: the calls that wait are asked about one after another, where the server was started."""

from __future__ import annotations

import asyncio
import contextlib
import os

from autotool.runtime import logs
from autotool.runtime.operators import OperatorDesk

_MOST_TYPED = 1_024


class Terminal:
    """Shows the oldest call that waits at the desk, and takes what is typed as the decision about it.

    Args:
        reading: the terminal's file descriptor.
    """

    def __init__(self, desk: OperatorDesk, reading: int = 0) -> None:
        self._desk = desk
        self._fd = reading
        self._shown = ""
        self._is_reading = False

    def open(self) -> None:
        """Ask from now on."""
        self._desk.watch = self._changed

    def _changed(self) -> None:
        oldest = self._desk.oldest()
        if oldest is None or oldest.id == self._shown:
            if oldest is None and self._shown:
                self._shown = ""
                self._stop()
            return
        if not self._is_in_front():
            return
        self._shown = oldest.id
        # What was typed before the question was there is no answer to it.
        self._forget_typed()
        more = len(self._desk) - 1
        others = f" ({more} more wait)" if more else ""
        # Every line of it is marked, so that no argument can pass for a line of the server's.
        text = "\n".join(f"| {line}" for line in oldest.text.splitlines())
        self._say(f"\n{text}\nAsked by {oldest.caller}{others}. Let it run? [y/n] ")
        if not self._is_reading:
            asyncio.get_running_loop().add_reader(self._fd, self._read)
            self._is_reading = True

    def _is_in_front(self) -> bool:
        # A process in the background that reads from its terminal is stopped by the kernel.
        with contextlib.suppress(OSError):
            return os.tcgetpgrp(self._fd) == os.getpgrp()
        return False

    def _forget_typed(self) -> None:
        import termios

        with contextlib.suppress(termios.error):
            termios.tcflush(self._fd, termios.TCIFLUSH)

    def _read(self) -> None:
        if not self._is_in_front():
            self._shown = ""
            self._stop()
            return
        try:
            typed = os.read(self._fd, _MOST_TYPED)
        except OSError:
            typed = b""
        if not typed:
            self._stop()
            return
        word = typed.decode(errors="replace").strip().lower()
        if word not in ("y", "yes", "n", "no"):
            self._say("Type y to let it run, or n to refuse it: ")
        elif not self._desk.settle(self._shown, approve=word.startswith("y")):
            self._say("It was decided elsewhere, or has given up.\n")

    def _stop(self) -> None:
        if self._is_reading:
            asyncio.get_running_loop().remove_reader(self._fd)
            self._is_reading = False

    def _say(self, text: str) -> None:
        logs.stderr.write(text.encode(errors="replace"))
