"""What secrets look like: the shapes of well-known tokens, and the names under which secrets are kept."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of token.

    Attributes:
        kind: what a person calls it, for the mask.
        marks: texts of which at least one is in every such token; looked for before `pattern` is tried.
        pattern: what is masked: its group 1, or the whole where it has none.
    """

    kind: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]


def _token(kind: str, marks: str, pattern: str) -> Shape:
    whole = rf"(?<![A-Za-z0-9_-])(?:{pattern})(?![A-Za-z0-9])"
    return Shape(kind, tuple(marks.split()), re.compile(whole))


_BEGIN_KEY = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_END_KEY = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
# A block that was cut off has no end: then the lines of base64 that follow are masked.
_KEY_BLOCK = rf"{_BEGIN_KEY}(?:[^-]*+(?:-(?!----)[^-]*+)*+{_END_KEY}|(?:(?:\s|\\[rn])*+[A-Za-z0-9+/=]{{16,}}+)*+)"

SHAPES = (
    Shape("private key", ("PRIVATE KEY",), re.compile(_KEY_BLOCK)),
    _token("AWS access key", "AKIA ASIA", r"(?:AKIA|ASIA)[0-9A-Z]{16}"),
    _token("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}"),
    _token("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _token("GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    _token("Slack token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    _token("Slack token", "xapp-", r"xapp-[0-9]-[A-Za-z0-9-]{10,}"),
    Shape(
        "Slack webhook",
        ("hooks.slack.com/",),
        re.compile(r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9_/-]{20,})"),
    ),
    _token("Google API key", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    _token("Google OAuth token", "ya29.", r"ya29\.[0-9A-Za-z_-]{20,}"),
    _token("Google client secret", "GOCSPX-", r"GOCSPX-[0-9A-Za-z_-]{20,}"),
    # Words such as `sk-toggleable-content` (CSS classes of scikit-learn) begin alike.
    _token(
        "API key",
        "sk-",
        r"sk-(?:(?:proj|svcacct|admin|ant|or)-[A-Za-z0-9_-]{20,}|(?=[A-Za-z]*[0-9])[A-Za-z0-9]{20,})",
    ),
    _token("Stripe key", "_live_ _test_", r"[srp]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    _token("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=]{20,}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36,}"),
    _token("PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,}"),
    _token("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token("SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}"),
    _token("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[a-f0-9]{64}"),
    _token("JSON web token", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"),
    Shape(
        "password",
        ("://",),
        # Placeholders of documentation, such as {password}, <password> and $PASSWORD, are no passwords.
        re.compile(r"://[^\s/:@?#\"'<>]{0,256}:(?![{<$*\[])([^\s/\"'<>]{1,512})@"),
    ),
    Shape(
        "credentials",
        ("earer ", "asic ", "EARER ", "ASIC "),
        re.compile(r"(?i)\b(?:bearer|basic)\s{1,4}((?=[A-Za-z._~+/-]{0,64}[0-9=])[A-Za-z0-9._~+/-]{12,4096}={0,2})"),
    ),
)

_STRONG = {
    "password": "password",
    "passwd": "password",
    "pwd": "password",
    "passphrase": "passphrase",
    "passcode": "passcode",
    "secret": "secret",
    "apikey": "API key",
    "api key": "API key",
    "access key": "access key",
    "account key": "access key",
    "private key": "private key",
    "secret key": "secret key",
    "signing key": "key",
    "encryption key": "key",
    "credential": "credential",
    "credentials": "credential",
    "authorization": "credentials",
}
SECRET_KINDS = frozenset({shape.kind for shape in SHAPES} | set(_STRONG.values()) | {"token", "configured pattern"})
"""What masks call the things that they hide, beside `value of NAME`."""

_NOT_SECRET_TOKENS = {
    "next", "page", "previous", "prev", "continuation", "sync", "cursor", "resume", "start", "end",
    "stop", "pad", "eos", "bos", "unk", "sep", "cls", "mask", "special", "unknown", "delimiter",
    "sort", "cancellation", "cancel", "change", "watch",
}  # fmt: skip
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def secret_kind(key: str) -> str:
    """What kind of secret is kept under a name such as `db_password` or `X-Auth-Token`; "" when none.

    The last words decide: `token_count`, `max_tokens` and `nextPageToken` name no secrets.
    """
    words = [word.lower() for word in _WORDS.findall(key[-80:])]
    if not words:
        return ""
    last_two = " ".join(words[-2:])
    if last_two in _STRONG or words[-1] in _STRONG:
        return _STRONG.get(last_two) or _STRONG[words[-1]]
    if words[-1] == "token" and not _NOT_SECRET_TOKENS.intersection(words):
        return "token"
    return ""


_NO_VALUE = {
    "str", "string", "text", "int", "integer", "float", "number", "bool", "boolean", "bytes", "any",
    "none", "null", "nil", "true", "false", "yes", "no", "on", "off", "optional", "required", "unset",
    "empty", "default", "missing", "invalid", "undefined", "hidden", "masked", "redacted", "object",
    "bearer", "basic", "digest",
}  # fmt: skip
_PLACEHOLDER = re.compile(
    r"[\[{<$*(%]|x{3,}\Z|\.{2,}|os\.|getpass|env[.\[(]|input\(|self\.|[A-Za-z.]+\[", re.IGNORECASE
)


def is_secret_value(value: str, kind: str) -> bool:
    """Whether a value found under a secret name can be a secret: no type, no placeholder, no piece of code.

    A token must look like one (16 characters with a digit): "token" is also what texts are split into.
    """
    if not value or value.lower() in _NO_VALUE or _PLACEHOLDER.match(value) or value.endswith("("):
        return False
    if kind == "token":
        return len(value) >= 16 and any(char.isdigit() for char in value) and " " not in value.strip()
    return True


_SECRET_VARIABLE = {
    "KEY", "KEYS", "TOKEN", "TOKENS", "SECRET", "SECRETS", "PASSWORD", "PASSWD", "PASSPHRASE", "PASS",
    "PWD", "APIKEY", "CREDENTIAL", "CREDENTIALS",
}  # fmt: skip
_NOT_SECRET_VARIABLE = {
    "URL", "URI", "FILE", "PATH", "DIR", "NAME", "ID", "TYPE", "COUNT", "HOST", "PORT", "TTL",
    "ENDPOINT", "USER", "USERNAME", "LENGTH", "EXPIRY", "REGION",
}  # fmt: skip


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable is named as one that holds a secret."""
    words = name.upper().split("_")
    return not _SECRET_VARIABLE.isdisjoint(words) and words[-1] not in _NOT_SECRET_VARIABLE
