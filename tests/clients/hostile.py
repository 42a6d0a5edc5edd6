"""Functions that harm the process in which they run."""

import ctypes
import json
import os
import subprocess
import sys


def leave() -> str:
    """End the interpreter."""
    sys.exit(3)


def leave_at_once() -> str:
    """End the process without a word."""
    os._exit(7)


def crash() -> str:
    """Read from address zero."""
    ctypes.string_at(0)
    return "still here"


def close_output() -> str:
    """Close standard output."""
    os.close(1)
    return "closed"


def patch_json() -> str:
    """Break the json module for everybody."""
    json.dumps = json.loads = None
    return "patched"


def print_everywhere() -> str:
    """Write to standard output in every way there is."""
    print("printed")
    sys.__stdout__.write("to the original stream\n")
    os.write(1, b"to the descriptor\n")
    subprocess.run(["echo", "from a child"], check=True)
    return "done"
