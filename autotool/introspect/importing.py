"""From the words a person typed to the live object they mean."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import pkgutil
import re
import sys
import traceback
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from autotool.errors import TargetError
from autotool.introspect.reached import LIBRARIES, Reached, Watch, command_line, intercepted
from autotool.model import Target


@dataclass(frozen=True, slots=True)
class Loaded:
    """A target that was imported: its module, the object it names, and the dotted path to that object ("" for the module).

    Attributes:
        reached: where a script reads its command line while it is imported, or a factory when it is called, what it would
            read it with; what stands behind that line has not been run.
        is_entry: whether `value` is a function that reads a command line when it is called, as `pkg.cli:main()` does.
    """

    target: Target
    module: ModuleType
    value: Any
    path: str
    reached: Reached | None = None
    is_entry: bool = False


def load(target: Target) -> Loaded:
    """Import what `target` names.

    Raises:
        TargetError: it does not exist, or its import fails; the hint has the nearest names.
    """
    found: Reached | None = None
    if target.is_file:
        module, found = _load_file(target)
    else:
        module = load_module(target.location)
    value: Any = module
    done: list[str] = []
    for name in target.attribute.split(".") if target.attribute else ():
        value = _attribute(value, name, target, done)
        done.append(name)
    if target.is_factory:
        try:
            return Loaded(target, module, _make(value, target), target.attribute, found)
        except Reached as entered:
            return Loaded(target, module, value, target.attribute, entered, is_entry=True)
    return Loaded(target, module, value, target.attribute, found)


def _attribute(owner: Any, name: str, target: Target, done: list[str]) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        where = ".".join([target.location, *done])
        near = nearest(name, (other for other in dir(owner) if not other.startswith("_")))
        raise TargetError(f"`{where}` has no `{name}`", hint=near) from None
    except Exception as error:
        raise TargetError(f"`{target.text}` cannot be read: {one_line(error)}") from error


def _make(factory: Any, target: Target) -> Any:
    watch = Watch()
    stem = Path(target.location).stem if target.is_file else target.location.rpartition(".")[2]
    try:
        with command_line(f"{stem}.py"), intercepted((), watch):
            return factory()
    except (Exception, SystemExit) as error:
        if watch.found is not None:
            raise watch.found from None
        raise TargetError(
            f"`{target.text}` failed when it was called without arguments: {one_line(error)}",
            hint="A factory must work without arguments; wrap it in a function of your own that gives them.",
        ) from error


def load_module(name: str) -> ModuleType:
    """Import the module `name`.

    Raises:
        TargetError: there is no such module, or its import fails.
    """
    if name == "__main__":
        raise TargetError("`__main__` is autotool itself", hint="Name the module or the file that you want served.")
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise TargetError(f"there is no module `{name}`", hint=_near_modules(name)) from None
        raise _import_failed(name, error) from error
    except SystemExit as error:
        failed = _import_failed(name, error)
        hint = (
            f"It ends the program. If it reads a command line, `{name}:__main__` serves it as the program that it is."
        )
        raise TargetError(failed.message, hint=hint) from error
    except Exception as error:
        raise _import_failed(name, error) from error


def unrun(target: Target) -> ModuleType:
    """A module that stands for one that is to be run and not imported: it has its name and its file.

    Raises:
        TargetError: there is no such module or file.
    """
    if target.is_file:
        path = _existing(target)
        made = ModuleType(path.stem)
        made.__file__ = str(path)
        return made
    try:
        spec = importlib.util.find_spec(target.location)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise TargetError(f"there is no module `{target.location}`", hint=_near_modules(target.location))
    made = ModuleType(target.location)
    made.__file__, made.__spec__ = spec.origin or "", spec
    return made


def _existing(target: Target) -> Path:
    path = Path(target.location).expanduser()
    if not path.is_file():
        folder = path.parent if path.parent.is_dir() else Path()
        near = nearest(path.name, (other.name for other in folder.glob("*.py")))
        raise TargetError(f"there is no file `{target.location}`", hint=near)
    return path.resolve()


def _load_file(target: Target) -> tuple[ModuleType, Reached | None]:
    """Import a file as a module named after it, with its folder first on `sys.path` while it is imported.

    Raises:
        TargetError: there is no such file, or its import fails.
    """
    path = _existing(target)
    name = _module_name(path)
    _forget_namesakes(path.parent)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TargetError(f"`{target.location}` is not a Python file", hint="Its name must end in `.py`.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with folder_on_path(path.parent), command_line(str(path)), intercepted(_libraries(path)):
            spec.loader.exec_module(module)
    except Reached as found:
        return module, found
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise _import_failed(target.location, error) from error
    return module, None


def _libraries(path: Path) -> tuple[str, ...]:
    """The libraries that read command lines and that a file speaks of; no other is imported for its sake."""
    text = path.read_bytes()
    return tuple(name for name in LIBRARIES if name.encode() in text)


_script_folders: set[str] = set()


@contextmanager
def folder_on_path(folder: Path) -> Generator[None]:
    """Put `folder` first on `sys.path`, as `python file.py` does; afterwards last, for imports inside functions."""
    entry = str(folder)
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        if entry in sys.path:
            sys.path.remove(entry)
        if entry not in sys.path:
            sys.path.append(entry)
        _script_folders.add(entry)


def _forget_namesakes(folder: Path) -> None:
    """Let a file import its own `helper.py` although a file in another folder has imported one of that name."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if not file or "." in name or not (folder / f"{name}.py").is_file():
            continue
        home = str(Path(file).parent)
        if home in _script_folders and home != str(folder):
            del sys.modules[name]


def _module_name(path: Path) -> str:
    """The file's stem where that is free, so that pickles and names read well; else made unique by the path."""
    stem = re.sub(r"\W+", "_", path.stem) or "script"
    present = sys.modules.get(stem)
    if present is None and _is_free(stem, path):
        return stem
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{stem}_{digest}"


def _is_free(stem: str, path: Path) -> bool:
    try:
        spec = importlib.util.find_spec(stem)
    except (ImportError, ValueError):
        return False
    return spec is None or spec.origin == str(path)


def submodules(package: ModuleType) -> tuple[str, ...]:
    """The dotted names of every module below `package`, sorted, private ones and `__main__` left out."""
    found: list[str] = []
    pending: list[tuple[str, list[str]]] = [(package.__name__, list(getattr(package, "__path__", ())))]
    while pending:
        prefix, paths = pending.pop()
        for info in pkgutil.iter_modules(paths, prefix + "."):
            leaf = info.name.rpartition(".")[2]
            if leaf.startswith("_"):
                continue
            found.append(info.name)
            if info.ispkg:
                pending.append((info.name, [str(Path(path) / leaf) for path in paths]))
    return tuple(sorted(found))


def nearest(name: str, names: Iterable[str], *, count: int = 3) -> str:
    """A hint with the names that look most like `name`, or ""."""
    known = sorted(set(names))
    folded = {other.casefold(): other for other in known}
    close = difflib.get_close_matches(name.casefold(), list(folded), n=count, cutoff=0.6)
    if not close:
        return ""
    return "Did you mean " + " or ".join(f"`{folded[other]}`" for other in close) + "?"


def _near_modules(name: str) -> str:
    parent, _, leaf = name.rpartition(".")
    if not parent:
        return nearest(leaf, {info.name for info in pkgutil.iter_modules()} | set(sys.stdlib_module_names))
    try:
        package = importlib.import_module(parent)
    except (Exception, SystemExit):
        return _near_modules(parent)
    siblings = {info.name for info in pkgutil.iter_modules(getattr(package, "__path__", ()))}
    if hasattr(package, leaf):
        return f"`{leaf}` is in `{parent}`: write `{parent}:{leaf}`."
    return nearest(leaf, siblings)


def _import_failed(name: str, error: BaseException) -> TargetError:
    where = _failing_line(error)
    return TargetError(
        f"`{name}` does not import: {one_line(error)}{where}",
        hint="It must import with this Python first: try `python -c` with the same import, or `--debug` for the traceback.",
    )


def _failing_line(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_foreign(frame.filename)]
    return f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def _is_foreign(filename: str) -> bool:
    return not filename.startswith("<frozen") and "importlib" not in filename and filename != __file__


def one_line(error: BaseException) -> str:
    """`Type: message` in one line, whatever the exception's own `str()` does."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    name = type(error).__name__
    return f"{name}: {text}" if text else name
