"""How long it takes to read functions, beside what pydantic alone takes to build validators for the same signatures.

    python -m benchmarks.reading

1,000 typed functions may take twice as long, 1,000 untyped ones with a stub file four times. Exit code 1 when they do not.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

COUNT = 1_000
ROUNDS = 3
BARS = {"typed": 2.0, "untyped": 4.0}

_TYPES = [
    "int",
    "str",
    "float",
    "bool",
    "list[int]",
    "list[str]",
    "dict[str, int]",
    "int | None",
    "str | None",
    "tuple[int, str]",
    "Literal['a', 'b']",
    "datetime",
    "set[str]",
    "list[dict[str, float]]",
    "Path",
]
_HEAD = "from datetime import datetime\nfrom pathlib import Path\nfrom typing import Literal\n\n"

_TIMER = """
import gc, sys, time
sys.path.insert(0, {folder!r})
{prepare}
import {module} as module
functions = [value for name, value in vars(module).items() if name.startswith("f_")]
gc.disable()
began = time.perf_counter()
{work}
print(time.perf_counter() - began)
"""

_OURS = "from autotool.sources.python import discover\nfrom autotool.model import Selection, Target\nfrom autotool.schema import rich"
_PYDANTIC = "import pydantic\nimport typed"


def write(folder: Path) -> None:
    """The same thousand signatures twice: annotated, and bare with a stub file beside them."""
    chance = random.Random(3)
    typed, bare, stub = [_HEAD], [], [_HEAD]
    for number in range(COUNT):
        names = [f"p{place}" for place in range(chance.randint(1, 5))]
        kinds = [chance.choice(_TYPES) for _ in names]
        signature = ", ".join(f"{name}: {kind}" for name, kind in zip(names, kinds, strict=True))
        doc = f'    """Do the thing number {number}."""\n'
        typed.append(f"def f_{number}({signature}) -> int:\n{doc}    return {number}\n\n")
        bare.append(f"def f_{number}({', '.join(names)}):\n{doc}    return {number}\n\n")
        stub.append(f"def f_{number}({signature}) -> int: ...\n")
    (folder / "typed.py").write_text("".join(typed), encoding="utf-8")
    (folder / "untyped.py").write_text("".join(bare), encoding="utf-8")
    (folder / "untyped.pyi").write_text("".join(stub), encoding="utf-8")


def seconds(folder: Path, module: str, prepare: str, work: str) -> float:
    script = _TIMER.format(folder=str(folder), module=module, prepare=prepare, work=work)
    return float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)


def main() -> int:
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder)
        for module, bar in BARS.items():
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(seconds(folder, module, _OURS, f"discover([Target('{module}', '{module}')], Selection())"))
                theirs.append(
                    seconds(
                        folder,
                        module,
                        _PYDANTIC,
                        "for f in functions:\n    pydantic.TypeAdapter(getattr(typed, f.__name__))",
                    )
                )
            ratio = statistics.median(ours) / statistics.median(theirs)
            missed |= ratio > bar
            print(
                f"{COUNT} {module:<8} functions: {statistics.median(ours):.2f} s, pydantic alone {statistics.median(theirs):.2f} s, ratio {ratio:.2f} (bar {bar:g})"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
