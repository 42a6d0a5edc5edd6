"""The words from which hints are inferred, and the modules whose effects are known."""

from __future__ import annotations

import re
from typing import Literal


def _set(*rows: str) -> frozenset[str]:
    return frozenset(word for row in rows for word in row.split())


READING = _set(
    "get list read count find search show describe fetch lookup look query check is has can exists",
    "contains compute calculate parse format validate verify compare diff sum mean min max average",
    "convert encode decode hash measure estimate view summarize summarise analyze analyse detect",
    "tokenize normalize filter sort loads dumps split join inspect peek retrieve determine explain",
    "evaluate predict classify score rank translate return tell info status stats median infer",
)
"""Verbs of functions that leave everything as it was. Alone they are not enough."""

READING_SUMMARY = READING | _set(
    "returns gets lists reads counts finds searches shows describes fetches looks queries checks",
    "computes calculates parses formats validates verifies compares converts encodes decodes measures",
    "estimates determines tells test tests true whether given retrieves summarizes loads",
)
"""First words of docstrings that say so."""

DESTROYING = _set(
    "delete remove rm rmdir rmtree removedirs unlink drop destroy erase wipe purge truncate overwrite",
    "kill killpg terminate shutdown reboot send sendmail sendall sendto pay charge refund cancel",
    "revoke uninstall discard nuke withdraw",
)
"""Verbs of functions after which something is gone, or has gone out."""

DESTROYING_SUMMARY = DESTROYING | _set(
    "deletes removes drops destroys erases wipes purges truncates overwrites kills terminates sends",
    "pays charges refunds cancels revokes uninstalls discards",
)
"""First words of docstrings that say so."""

ASKING = READING | _set(
    "should may will must on before after no not was test confirm",
)
"""First words after which a destroying verb is only spoken of: `can_delete`, `on_delete`."""

WRITING = _set(
    "set add create make write save update insert append put post upload register install copy move",
    "rename edit modify enable disable start stop run exec execute apply commit push publish sync",
    "schedule assign mark close lock unlock mkdir symlink link chmod chown touch configure init dump",
    "export download store pop replace merge reset clear submit deploy attach detach grant increment",
    "decrement toggle next take",
)
"""Verbs of functions that change something; in a name they outweigh a reading one: `get_or_create`."""

CHANGING_PARAMETERS = _set("payload body updates changes patch new_value")
"""Parameters that one who only reads does not ask for."""

HARMLESS_OBJECTS = _set(
    "prefix suffix whitespace whitespaces spaces duplicate duplicates punctuation accent accents",
    "diacritics html markup outlier outliers nan nans na stopword stopwords newline newlines",
    "indentation margin emoji emojis ansi escape escapes trailing leading cache caches chars",
)
"""What is removed from a value that was handed over, not from the world. (Caches fill again.)"""

# What a function of the standard library does, by its module and name.

PURE_MODULES = _set(
    "math cmath statistics textwrap difflib string html html.entities colorsys fractions decimal",
    "numbers json json.decoder json.encoder unicodedata re base64 binascii zlib bisect heapq operator",
    "itertools functools keyword struct ipaddress urllib.parse fnmatch shlex copy calendar graphlib",
    "ast token stringprep quopri hashlib hmac datetime collections collections.abc enum dataclasses",
    "typing types abc array posixpath ntpath genericpath builtins email.utils mimetypes codecs",
    "reprlib contextlib stat opcode  sre_compile re._compiler _bisect _heapq _struct",
    "_json _functools _collections _collections_abc _datetime _decimal _statistics _hashlib _operator",
    "_sre _codecs _typing string.templatelib",
)
"""Modules whose functions compute, except for those in the tables below."""

CHANGING = _set(
    "pickle.load pickle.loads _pickle.load _pickle.loads marshal.loads",
    "json.dump re.purge codecs.open quopri.main base64.main base64.encode base64.decode quopri.encode",
    "quopri.decode mimetypes.init mimetypes.add_type mimetypes.read_mime_types calendar.main",
    "calendar.setfirstweekday codecs.register codecs.unregister codecs.register_error",
    "contextlib.chdir decimal.setcontext decimal.localcontext ast.main builtins.open builtins.exec",
    "builtins.eval builtins.input builtins.compile builtins.__import__ builtins.setattr",
    "builtins.delattr builtins.globals builtins.breakpoint builtins.exit builtins.quit builtins.help",
    "contextlib.redirect_stdout logging.basicConfig logging.disable logging.shutdown",
    "logging.addLevelName warnings.simplefilter warnings.filterwarnings warnings.resetwarnings",
    "codecs.EncodedFile",
)
"""What changes something, or may."""

READING_FUNCTIONS = _set(
    "os.getcwd os.listdir os.stat os.lstat os.scandir os.walk os.getenv os.access os.readlink",
    "os.environ os.fspath os.cpu_count os.getpid os.getppid os.uname os.fsdecode os.fsencode os.sep",
    "os.linesep os.name os.path os.times os.getlogin os.statvfs os.get_terminal_size os.getuid",
    "os.getloadavg os.get_exec_path os.PathLike os.path.exists shutil.which shutil.disk_usage",
    "shutil.get_terminal_size glob.glob glob.iglob glob.escape linecache.getline linecache.getlines",
    "json.load tomllib.load tomllib.loads csv.reader csv.DictReader pathlib.Path pathlib.PurePath",
    "io.StringIO io.BytesIO filecmp.cmp platform.system platform.platform platform.machine",
    "platform.node platform.python_version hashlib.file_digest genericpath.exists genericpath.getsize",
    "genericpath.isfile genericpath.isdir genericpath.getmtime genericpath.getctime",
    "genericpath.getatime genericpath.samefile posixpath.islink posixpath.ismount posixpath.lexists",
    "posixpath.expanduser posixpath.expandvars posixpath.realpath posixpath.exists sys.getsizeof",
    "sys.version_info sys.platform sys.version",
)
"""What reads files or the machine and changes nothing."""

DESTROYING_FUNCTIONS = _set(
    "os.remove os.unlink os.rmdir os.removedirs os.replace os.rename os.renames os.truncate",
    "os.ftruncate os.kill os.killpg os.abort os._exit shutil.rmtree shutil.move signal.raise_signal",
    "smtplib.SMTP smtplib.SMTP_SSL",
)

MIXED_MODULES = frozenset(name.rpartition(".")[0] for name in CHANGING | READING_FUNCTIONS)
"""Modules of which some functions do more than compute."""

HARMLESS_MODULES = _set("logging warnings typing __future__")
"""Modules that code may call without becoming more than it is, though nobody would serve them."""

CHANCE_MODULES = _set(
    "random secrets uuid time _random",
)
"""Modules whose functions answer differently each time, and harm nothing."""

NETWORK_MODULES = _set(
    "requests httpx urllib3 aiohttp socket _socket ssl smtplib ftplib imaplib poplib http xmlrpc",
    "boto3 botocore paramiko websockets websocket grpc redis pymongo psycopg psycopg2 webbrowser",
)
"""Packages that reach other machines; `urllib.request` does too."""

SENDING_REQUESTS = _set("post put patch delete sendto connect request")
"""Functions of those packages that do more than ask."""

COMPUTING_PACKAGES = _set(
    "numpy pandas polars scipy",
)

# What a method does, by its name alone.

WRITING_METHODS = _set(
    "write writelines writestr write_text write_bytes mkdir touch symlink_to hardlink_to chmod",
    "savefig save to_csv to_excel to_parquet to_sql to_pickle to_feather to_hdf execute executemany",
    "executescript commit sendall extractall putrequest mkdtemp tofile",
)
DESTROYING_METHODS = _set(
    "unlink rmdir rmtree send_message sendmail truncate terminate kill",
)
READING_METHODS = _set(
    "read_text read_bytes iterdir exists is_file is_dir rglob",
)
MUTATING_METHODS = _set(
    "append extend insert pop popitem remove clear update setdefault add discard sort reverse",
    "appendleft popleft extendleft subtract difference_update intersection_update put put_nowait",
)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case: `getUser_byID` has get, user, by, id."""
    return tuple(word.lower() for word in _WORD.findall(name))


def plain_module(module: str) -> str:
    """The public name of a module: `posix` is `os`."""
    return {"posix": "os", "nt": "os", "_io": "io"}.get(module, module)


Effect = Literal["pure", "reads", "writes", "destroys", "network", "chance", "unknown"]

_LOADING = re.compile(r"(?:load|from(?:file|txt)|genfromtxt|read|scan|memmap|open)")
_SAVING = re.compile(r"(?:save|write|to_|set|put_)")


def effect_of(module: str, name: str) -> Effect:
    """What the function `name` of a module of the standard library, or of a well-known package, does."""
    module = plain_module(module)
    key, top = f"{module}.{name}", module.partition(".")[0]
    for table, effect in _BY_NAME:
        if key in table:
            return effect
    if module in PURE_MODULES:
        return "pure"
    if module in CHANCE_MODULES:
        return "chance"
    if top in NETWORK_MODULES or module == "urllib.request":
        return "network"
    return _computing(module, name) if top in COMPUTING_PACKAGES else "unknown"


_BY_NAME: tuple[tuple[frozenset[str], Effect], ...] = (
    (DESTROYING_FUNCTIONS, "destroys"),
    (READING_FUNCTIONS, "reads"),
    (CHANGING, "writes"),
)


def _computing(module: str, name: str) -> Effect:
    if ".random" in module:
        return "chance"
    if "testing" in module or "ctypeslib" in module or "f2py" in module:
        return "unknown"
    if _SAVING.match(name):
        return "writes"
    return "reads" if _LOADING.match(name) else "pure"
