"""Hints and their evidence, over real functions: nothing is read-only, or asked about, without a reason."""

# The functions below are written as people write them.
# ruff: noqa: PTH107, PTH118, PTH123, PTH208

from __future__ import annotations

import base64
import bisect
import calendar
import collections
import colorsys
import copy
import csv
import difflib
import fnmatch
import functools
import getpass
import glob
import gzip
import hashlib
import heapq
import html
import inspect
import io
import itertools
import json
import linecache
import locale
import logging
import math
import operator
import os
import pathlib
import pickle
import platform
import random
import re
import secrets
import shlex
import shutil
import signal
import smtplib
import socket
import sqlite3
import statistics
import string
import struct
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.parse
import urllib.request
import uuid
import webbrowser
import zlib
from collections.abc import Callable
from typing import Any

import numpy
import pandas
import pytest
import requests

from autotool.introspect import docstrings, effects
from autotool.model import Hints


def hints_of(function: Any, name: str = "", module: str = "") -> Hints:
    """The hints of a live function, as a source would ask for them."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return effects.infer(
        name=name or function.__name__,
        module=module or function.__module__ or "",
        summary=docstrings.parse(docstrings.of(function), names).summary,
        parameters=names,
        returns=getattr(function, "__annotations__", {}).get("return"),
        function=function,
    )


def is_evidenced(hints: Hints, hint: str) -> bool:
    return any(one.hint == hint for one in hints.evidence)


READ_ONLY = [
    math.sqrt, math.gcd, statistics.mean, statistics.median, statistics.pstdev, textwrap.dedent,
    textwrap.fill, textwrap.shorten, difflib.get_close_matches, difflib.unified_diff,
    difflib.restore, html.escape, html.unescape, string.capwords, colorsys.rgb_to_hsv, json.loads,
    json.dumps, re.sub, re.findall, urllib.parse.urlparse, urllib.parse.quote, base64.b64encode,
    zlib.compress, zlib.crc32, hashlib.sha256, heapq.nlargest, bisect.insort, operator.delitem,
    operator.add, fnmatch.filter, shlex.split, copy.deepcopy, calendar.month, struct.pack,
    functools.reduce, itertools.accumulate, os.path.join, os.path.basename,
    # These look at files or the machine.
    os.listdir, os.getcwd, os.stat, os.path.exists, os.path.getsize, shutil.which,
    shutil.disk_usage, glob.glob, linecache.getline, platform.system, json.load, sys.getsizeof,
    numpy.mean, numpy.load, pandas.concat, pandas.read_csv, requests.get, requests.head,
]  # fmt: skip

DESTRUCTIVE = [
    os.remove, os.unlink, os.rmdir, os.removedirs, os.rename, os.replace, os.kill, os.truncate,
    shutil.rmtree, shutil.move, signal.raise_signal, requests.delete, pathlib.Path.unlink,
]  # fmt: skip

# Nothing is known for sure: the specification's defaults, and no question.
IN_DOUBT = [
    os.mkdir, os.makedirs, os.system, os.putenv, os.chdir, os.symlink, shutil.copy, shutil.copytree,
    json.dump, re.purge, linecache.clearcache, gzip.open, tempfile.mkdtemp, subprocess.Popen,
    sqlite3.connect, pickle.dump, pickle.loads, locale.setlocale, calendar.setfirstweekday,
    sys.exit, sys.setrecursionlimit, numpy.save, logging.info, csv.writer, io.open, os.write,
]  # fmt: skip

NETWORK = [
    urllib.request.urlopen, urllib.request.urlretrieve, requests.post, requests.put,
    socket.create_connection, webbrowser.open, smtplib.SMTP.login,
]  # fmt: skip

CHANCE = [
    random.random, random.choice, random.shuffle, time.sleep, time.time, secrets.token_hex,
    uuid.uuid4, numpy.random.rand,
]  # fmt: skip


@pytest.mark.parametrize("function", READ_ONLY, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_what_computes_or_looks_is_read_only_with_evidence(function: Callable[..., Any]) -> None:
    hints = hints_of(function)
    assert (hints.read_only, hints.destructive, hints.idempotent) == (True, False, True)
    assert is_evidenced(hints, "read_only")
    assert is_evidenced(hints, "destructive")


@pytest.mark.parametrize("function", DESTRUCTIVE, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_what_destroys_is_destructive_with_evidence(function: Callable[..., Any]) -> None:
    hints = hints_of(function)
    assert (hints.read_only, hints.destructive) == (False, True)
    assert is_evidenced(hints, "destructive")


@pytest.mark.parametrize("function", IN_DOUBT, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_in_doubt_the_defaults_stand_without_evidence(function: Callable[..., Any]) -> None:
    hints = hints_of(function)
    assert (hints.read_only, hints.destructive, hints.idempotent) == (False, True, False)
    assert not is_evidenced(hints, "destructive")


@pytest.mark.parametrize("function", NETWORK, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_what_reaches_other_machines_is_of_the_open_world_and_not_read_only(
    function: Callable[..., Any],
) -> None:
    hints = hints_of(function)
    assert (hints.read_only, hints.open_world) == (False, True)
    assert is_evidenced(hints, "open_world")


@pytest.mark.parametrize("function", CHANCE, ids=lambda function: f"{function.__module__}.{function.__name__}")
def test_chance_and_time_do_no_harm_but_answer_differently_each_time(function: Callable[..., Any]) -> None:
    module = "numpy.random" if function is numpy.random.rand else function.__module__ or "random"
    hints = hints_of(function, module=module)
    assert (hints.read_only, hints.destructive, hints.idempotent) == (False, False, False)


def test_the_world_is_closed_only_where_that_is_known() -> None:
    assert hints_of(math.sqrt).open_world is False
    assert hints_of(os.remove).open_world is False
    assert hints_of(add).open_world is False
    assert hints_of(os.system).open_world is True
    assert hints_of(requests.get).open_world is True
    assert hints_of(pandas.read_csv).open_world is True


UNITS = {"m": 1.0, "km": 1000.0}
SEEN: list[str] = []
PATTERN = re.compile("x")
Point = collections.namedtuple("Point", "x y")


class Store:
    """Keeps things."""

    def __init__(self) -> None:
        self.kept: list[str] = []

    def get(self, key: str) -> str:
        return self.kept[0]

    def keep(self, key: str) -> None:
        self.kept.append(key)

    def remove(self, key: str) -> None:
        """Remove a thing."""
        self.kept.remove(key)


def add(a: int, b: int) -> int:
    return a + b


def delete_whitespace(text: str) -> str:
    """Delete all whitespace."""
    return "".join(text.split())


def remove(items: list[int], item: int) -> list[int]:
    items.remove(item)
    return items


def to_metres(value: float, unit: str) -> float:
    return value * UNITS[unit]


def remember(word: str) -> int:
    SEEN.append(word)
    return len(SEEN)


def mean_of_squares(values: list[float]) -> float:
    return statistics.mean(_square(value) for value in values)


def _square(value: float) -> float:
    return math.pow(value, 2)


def centre(points: list[Point]) -> Point:
    return Point(sum(point.x for point in points), 0)


def read_note(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def get_weather(city: str) -> str:
    """Return the weather."""
    return requests.get(f"https://weather.example/{city}", timeout=5).text


def get_ticket(city: str) -> str:
    """Return a ticket."""
    return requests.post(f"https://weather.example/{city}", timeout=5).text


def save_note(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def tidy(folder: str) -> None:
    for entry in os.listdir(folder):
        os.remove(os.path.join(folder, entry))


def tidy_by_helper(folder: str) -> None:
    tidy(folder)


def forget(path: pathlib.Path) -> None:
    path.unlink()


def close_account(cursor: Any, number: int) -> None:
    cursor.execute("DELETE FROM accounts WHERE number = ?", (number,))


def replace_all(text: str) -> str:
    return os.sep.join(text.replace("a", "b").split())


def counter() -> Callable[[], int]:
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return count

    return step


def ask(client: Store, key: str) -> str:
    return client.get(key)


@functools.lru_cache
def cached(value: int) -> int:
    return value + 1


def imports_late(text: str) -> str:
    import shutil as late

    return late.which(text) or ""


@pytest.mark.parametrize(
    ("function", "read_only", "evidenced"),
    [
        (add, True, True),
        (delete_whitespace, True, True),
        (remove, True, True),
        (to_metres, True, True),
        (mean_of_squares, True, True),
        (centre, True, True),
        (read_note, True, True),
        (replace_all, True, True),
        (cached, True, True),
        (functools.partial(add, 1), True, True),
        (lambda n: n * 2, True, True),
        (get_weather, True, True),
        (get_ticket, False, False),
        (remember, False, False),
        (save_note, False, False),
        (tidy, False, True),
        (tidy_by_helper, False, True),
        (forget, False, True),
        (close_account, False, True),
        (counter(), False, False),
        (ask, False, False),
        (imports_late, False, False),
        (Store().keep, False, False),
        (Store().remove, False, True),
        (functools.partial(ask, Store()), False, False),
    ],
)
def test_a_function_of_ones_own_is_judged_by_its_code(function: Any, read_only: bool, evidenced: bool) -> None:
    """Where destructiveness is not evidenced, no approval is asked for."""
    hints = hints_of(function, name=getattr(function, "__name__", "bound"), module=__name__)
    assert hints.read_only is read_only
    assert is_evidenced(hints, "destructive") is evidenced
    assert hints.destructive is not read_only


class Proxy:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no request")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no request")


def asks_a_proxy() -> Any:
    """Its global is no attribute of this module, since pytest looks at all of them."""
    return eval("lambda: current.user", {"current": Proxy()})


class Odd:
    __wrapped__ = 1


@pytest.mark.parametrize("make", [asks_a_proxy, Proxy, lambda: None, int, lambda: getpass, Odd])
def test_odd_objects_never_end_the_reading(make: Callable[[], Any]) -> None:
    hints = effects.infer(name="x", module="m", summary="", parameters=(), returns=None, function=make())
    assert (hints.read_only, hints.destructive, hints.evidence) == (False, True, ())
