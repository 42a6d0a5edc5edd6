"""Masking of secrets, in both directions: what must go, and what must stay.

The tokens are put together from pieces, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autotool.errors import ConfigError
from autotool.policy.redact import Redactor, environment_secrets

A36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
JWT = ".".join(["eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0", "dozjgNryP4J3jVmNHl0w5N"])
_KEY = "PRIVATE KEY-----"
PEM = f"-----BEGIN RSA {_KEY}\nMIIEowIBAAKCAQEA\nq1w2e3r4t5y6q1w2e3r4t5y6\n-----END RSA {_KEY}"

SECRETS = [
    ("AWS access key", "AKIA" + "IOSFODNN7EXAMPLE"),
    ("AWS access key", "ASIA" + "IOSFODNN7EXAMPLE"),
    ("GitHub token", "ghp_" + A36),
    ("GitHub token", "ghs_" + A36),
    ("GitHub token", "github_pat_" + A36),
    ("GitLab token", "glpat-" + A36[:20]),
    ("Slack token", "xoxb-" + "1234567890-abcdef"),
    ("Google API key", "AIza" + A36[:35]),
    ("API key", "sk-" + A36),
    ("API key", "sk-proj-" + A36 + "_-" + A36),
    ("API key", "sk-ant-api03-" + A36),
    ("Stripe key", "sk_live_" + A36),
    ("JSON web token", JWT),
    ("npm token", "npm_" + A36),
    ("PyPI token", "pypi-" + A36 + A36),
    ("Hugging Face token", "hf_" + A36[:34]),
    ("private key", PEM),
    ("private key", PEM[: PEM.index("-----END")].rstrip()),
]


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize("text", ["{}", "before {} after", "key ({}), more", "x\n{}\ny", "'{}'"])
def test_a_token_of_known_shape_is_masked_by_its_kind(kind: str, secret: str, text: str) -> None:
    assert Redactor().clean(text.format(secret)) == text.format(f"[redacted: {kind}]")


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
def test_a_token_is_masked_within_json_whatever_its_escapes(kind: str, secret: str) -> None:
    data = json.dumps({"a": 1.50, f"k {secret}": [f"go {secret}!"]}).encode()
    assert json.loads(Redactor().clean_json(data)) == {
        "a": 1.5,
        f"k [redacted: {kind}]": [f"go [redacted: {kind}]!"],
    }


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        (
            "cannot reach postgres://app:pa55-example@db.local/x?sslmode=off",
            "cannot reach postgres://app:[redacted: password]@db.local/x?sslmode=off",
        ),
        ("redis://:hunter2@h:6379/0", "redis://:[redacted: password]@h:6379/0"),
        ("amqp://u:p@ss:w@h/", "amqp://u:[redacted: password]@h/"),
        ("password=hunter2 host=db", "password=[redacted: password] host=db"),
        ("password = 'hunter 2'", "password = '[redacted: password]'"),
        ("password: hunter2", "password: [redacted: password]"),
        ('{"db_password": "hunter2", "n": 1}', '{"db_password": "[redacted: password]", "n": 1}'),
        ("DB_PASSWORD=hunter2", "DB_PASSWORD=[redacted: password]"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7", "AWS_SECRET_ACCESS_KEY=[redacted: access key]"),
        ("apiKey: 'abc'", "apiKey: '[redacted: API key]'"),
        ("X-Api-Key: abc123", "X-Api-Key: [redacted: API key]"),
        ("client_secret=abc&x=1", "client_secret=[redacted: secret]&x=1"),
        ("https://h/?access_token=0123456789abcdef0&x=1", "https://h/?access_token=[redacted: token]&x=1"),
        ("AccountKey=abc+/==;EndpointSuffix=x", "AccountKey=[redacted: access key];EndpointSuffix=x"),
        ("Authorization: Bearer abcdef123456789", "Authorization: Bearer [redacted: credentials]"),
        ("authorization: Basic dXNlcjpwYXNz1234", "authorization: Basic [redacted: credentials]"),
        ('\\"password\\": \\"hunter2\\"', '\\"password\\": \\"[redacted: password]\\"'),
    ],
)
def test_a_value_beside_the_name_of_a_secret_is_masked(text: str, masked: str) -> None:
    assert Redactor().clean(text) == masked
    assert json.loads(Redactor().clean_json(json.dumps([text]).encode())) == [masked]


@pytest.mark.parametrize(
    "text",
    [
        "token_count=5",
        "max_tokens: 100",
        "max_tokens=4096000000000000000",
        "password: str",
        "password: string, the one to log in with",
        "password: the password to log in with",
        "password: Optional[str] = None",
        "password=None",
        "def login(user: str, password: str = '') -> None: ...",
        "api_key = os.environ['API_KEY']",
        "password = getpass.getpass()",
        "password=${DB_PASSWORD}",
        "password=<your password>",
        "password=********",
        "postgres://user:{password}@host/db",
        "postgres://user:<password>@host/db",
        "http://localhost:8000/a@b",
        "https://example.com/path?page=2",
        "nextPageToken: CAUQAAabcdef1234567890",
        "next_token=CAUQAAabcdef1234567890",
        "token: hello",
        'tokens: ["the", "cat"]',
        '{"token": "cat", "id": 7}',
        "tokenizer=bert-base-uncased-v1234567890",
        "pwd=/home/me/work",
        "3f786850e387550fdab836ed7e6dc881de23001b",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "123e4567-e89b-12d3-a456-426614174000",
        "sk-toggleable-content-fallback-item",
        "sk-estimator-doc-link-fitted",
        "the secret of a good talk is: practice makes it.",
        "Basic authentication is used",
        "Bearer of bad news",
        "AKIA is the prefix of a key",
        "see -----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "keyboard=qwerty monkey=1 key=value",
        "sorted(items, key=lambda item: item.name)",
        "credentials are kept elsewhere",
        "[redacted: AWS access key]",
        "password=[redacted: password]",
        base64.b64encode(bytes(range(256)) * 64).decode(),
    ],
)
def test_text_that_holds_no_secret_stays_the_same_object(text: str) -> None:
    assert Redactor().clean(text) == text
    data = json.dumps({"type": "text", "text": text}).encode()
    assert Redactor().clean_json(data) is data


@pytest.mark.parametrize(
    ("value", "masked"),
    [
        ({"password": "hunter2"}, {"password": "[redacted: password]"}),
        ({"a": [{"apiKey": "k", "n": 1}]}, {"a": [{"apiKey": "[redacted: API key]", "n": 1}]}),
        ({"password": None, "token": "cat"}, {"password": None, "token": "cat"}),
        ({"password": ["hunter2"]}, {"password": ["hunter2"]}),
        (
            {"type": "string", "password": {"type": "string"}},
            {"type": "string", "password": {"type": "string"}},
        ),
        ({"password": "", "b": "x"}, {"password": "", "b": "x"}),
    ],
)
def test_a_member_is_masked_by_its_own_key_only(value: object, masked: object) -> None:
    for indent in (None, 2):
        assert json.loads(Redactor().clean_json(json.dumps(value, indent=indent).encode())) == masked


def test_known_secrets_are_masked_in_text_and_in_json_by_the_name_they_are_told_by() -> None:
    redactor = Redactor(secrets={"DEPLOY_KEY": 'we"ird\\välue', "OTHER": "plain-secret-1"})
    text = 'see we"ird\\välue and plain-secret-1.'
    masked = "see [redacted: value of DEPLOY_KEY] and [redacted: value of OTHER]."
    assert redactor.clean(text) == masked
    for ascii_only in (True, False):
        data = json.dumps({"x": text}, ensure_ascii=ascii_only).encode()
        assert json.loads(redactor.clean_json(data)) == {"x": masked}


def test_a_secret_that_is_no_utf8_is_masked_too() -> None:
    """Variables of the environment hold such bytes as lone surrogates (PEP 383)."""
    redactor = Redactor(secrets={"ODD_KEY": "abc\udce9defgh"})
    assert redactor.clean("x abc\udce9defgh") == "x [redacted: value of ODD_KEY]"
    assert redactor.clean_json(json.dumps(["abc\udce9defgh"]).encode()) == b'["[redacted: value of ODD_KEY]"]'


def test_the_longer_of_two_known_secrets_is_masked_whole() -> None:
    assert Redactor(secrets=["abcd1234", "abcd1234-long"]).clean("abcd1234-long") == "[redacted: secret]"


def test_a_configured_pattern_is_masked() -> None:
    redactor = Redactor(patterns=["ACME-[0-9]{8}"])
    assert redactor.clean("case ACME-12345678") == "case [redacted: configured pattern]"
    assert redactor.clean_json(b'["ACME-12345678", 1]') == b'["[redacted: configured pattern]", 1]'


@pytest.mark.parametrize("pattern", ["(", "a*", ""])
def test_a_pattern_that_cannot_work_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Redactor(patterns=[pattern])
    assert repr(pattern) in caught.value.message


def test_only_secrets_of_the_environment_are_taken_from_it() -> None:
    environment = {
        "OPENAI_API_KEY": "not-in-any-shape-1",
        "DATABASE_URL": "postgres://u:s3cr3t-pass@h/d",
        "DB_PASSWORD": "correcthorse",
        "SHORT_TOKEN": "abc123",
        "SSH_KEY": "/home/me/.ssh/id_rsa",
        "KEY_PATH": "secret-looking-1",
        "PORT_TOKEN": "12345678901",
        "TOKEN_URL": "https://login.example/token1",
        "AUTH_SECRET": "https://login.example/token1",
        "HOME": "/root-of-everything-1",
        "LANG": "C.UTF-8-and-more-1",
        "PWD": "/work-of-mine-1",
        "HF_TOKEN": "x1-x2-x3-x4",
    }
    assert environment_secrets(environment) == {
        "OPENAI_API_KEY": "not-in-any-shape-1",
        "DATABASE_URL": "s3cr3t-pass",
        "HF_TOKEN": "x1-x2-x3-x4",
    }


@given(st.text(st.sampled_from("passwordtoken=:\"' \\/@keyAKIA-_eyJ.sk1\n"), max_size=80))
def test_masking_never_fails_and_json_stays_json(text: str) -> None:
    redactor = Redactor(secrets=["sk1sk1"])
    masked = redactor.clean(text)
    assert redactor.clean(masked) == masked
    assert isinstance(json.loads(redactor.clean_json(json.dumps({"k": text, text: [text]}).encode())), dict)


HOSTILE = [
    "://",
    "://a:",
    "eyJ",
    "eyJabcdefgh.",
    "password",
    "password=",
    "token",
    "AKIA",
    "a-",
    "sk-",
    "ghp_",
]
HOSTILE += [
    "-----BEGIN PRIVATE KEY-----",
    "Bearer ",
    "hooks.slack.com/services/",
    "-",
    '"',
    "\\",
    "aA1_",
    "secret: ",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.timeout(30)
def test_hostile_text_is_masked_in_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    redactor = Redactor(secrets=["aaaaaaaab"])
    assert isinstance(redactor.clean(text), str)
    assert isinstance(json.loads(redactor.clean_json(json.dumps({"x": text}).encode())), dict)
