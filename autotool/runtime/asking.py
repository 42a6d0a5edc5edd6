"""Asks programs for their help: without a terminal, a pager or input, in an empty folder, for a few seconds."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence

from autotool.commands import environment, help_page
from autotool.commands.form import Form
from autotool.commands.programs import ProgramFile
from autotool.runtime.keepers import Request
from autotool.runtime.process import Finished, ProcessRunner

_LIMIT_S = 3.0
_MAX_BYTES = 1_000_000
_ALL_OF_IT = re.compile(r"--help all\b")
_FOR_HELP = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "COLUMNS": "200", "LINES": "1000", "MANWIDTH": "200"}
_NOTHING = Form(is_confident=False)


async def help_of(runner: ProcessRunner, program: ProgramFile, words: Sequence[str]) -> tuple[Form, str]:
    """What `words` (the program's name first) say of themselves, and the text that says it.

    `--help` is asked first, then `-h`, then a `help` command, then a manual page; judged by what was printed, on either
    stream, and not by the exit code. A program that does not end in time ignores the question, and is not asked again.
    """
    first: str = ""
    for path, line in _questions(program, words):
        finished = await _ask(runner, path, line)
        if finished is None:
            continue
        texts = [kept.head.decode("utf-8", "replace") for kept in (finished.stdout, finished.stderr)]
        for text in texts:
            form = help_page.parse(text, words) if text.strip() else _NOTHING
            if form.is_confident:
                return await _whole(runner, program, words, form, text)
        first = first or next((text for text in texts if text.strip()), "")
        if finished.stopped:
            break
    return _NOTHING, first


async def _whole(
    runner: ProcessRunner, program: ProgramFile, words: Sequence[str], form: Form, text: str
) -> tuple[Form, str]:
    """A page that names `--help all` for the rest (curl) is asked for all of it."""
    if not _ALL_OF_IT.search(text):
        return form, text
    finished = await _ask(runner, program.path, [*words, "--help", "all"])
    more = finished.stdout.head.decode("utf-8", "replace") if finished is not None else ""
    longer = help_page.parse(more, words) if more.strip() else _NOTHING
    return (longer, more) if longer.is_confident and len(longer.options) > len(form.options) else (form, text)


def _questions(program: ProgramFile, words: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    yield program.path, [*words, "--help"]
    yield program.path, [*words, "-h"]
    if len(words) > 1:
        yield program.path, [words[0], "help", *words[1:]]
    manual = shutil.which("man")
    if manual is not None:
        yield manual, ["man", "-P", "cat", "--", "-".join(os.path.basename(word) for word in words)]  # noqa: PTH119 - a word, no path


async def _ask(runner: ProcessRunner, path: str, line: Sequence[str]) -> Finished | None:
    variables = {name: value for name, value in environment.base(os.environ).items() if not name.startswith("LC_")}
    with tempfile.TemporaryDirectory(prefix="autotool-help-", ignore_cleanup_errors=True) as folder:
        request = Request(path, line, {**variables, **_FOR_HELP}, folder, grace_s=0.2)
        try:
            finished = await runner.run(request, timeout_s=_LIMIT_S, max_output=_MAX_BYTES)
        except OSError:
            return None
    return finished if finished.errno is None else None
