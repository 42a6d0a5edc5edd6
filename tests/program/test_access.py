"""Who may call over HTTP: tokens, an issuer's tokens, and the tools that scopes open."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey
from rawclient import META, RawClient

from autotool.policy.access import digest_of

CODE = '''
def billing_refund(amount: int) -> int:
    """Refund an amount."""
    return amount

def report(name: str) -> str:
    """Make a report."""
    return name

def whoami() -> str:
    """Say hello."""
    return "hello"
'''
SCOPES = '[scopes.billing]\nallow = ["billing_*"]\n[scopes.reading]\nallow = ["*"]\ndeny = ["billing_*"]\n'
ISSUER = "https://login.example"
RESOURCE = "https://tools.example/mcp"


def autotool(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autotool", *words]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


@contextlib.contextmanager
def served(folder: Path, toml: str, *flags: str) -> Iterator[int]:
    (folder / "shop.py").write_text(CODE)
    (folder / "autotool.toml").write_text(f'targets = ["./shop.py"]\n{toml}')
    command = [sys.executable, "-m", "autotool", "serve", "--http", "--port", "0", *flags]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=folder) as process:
        assert process.stderr is not None
        lines = iter(process.stderr)
        port = next(int(found.group(1)) for line in lines if (found := re.search(r":(\d+)/mcp", line)))
        reader = threading.Thread(target=lambda: list(lines))
        reader.start()
        try:
            yield port
        finally:
            process.terminate()
            process.wait(15)
            reader.join(5)


def post(
    port: int, method: str, params: dict[str, Any], token: str | None, **headers: str
) -> tuple[int, Any, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=15)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}})
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **({"Mcp-Name": params["name"]} if "name" in params else {}),
        **({"Authorization": f"Bearer {token}"} if token is not None else {}),
        **headers,
    }
    connection.request("POST", "/mcp", body, sent)
    answer = connection.getresponse()
    text = answer.read().decode()
    named = {name.lower(): value for name, value in answer.getheaders()}
    connection.close()
    return answer.status, json.loads(text) if text.startswith("{") else text, named


def call(port: int, name: str, arguments: dict[str, Any], token: str | None) -> tuple[int, Any, dict[str, str]]:
    return post(port, "tools/call", {"name": name, "arguments": arguments}, token)


def test_a_token_is_made_used_and_revoked(tmp_path: Path) -> None:
    made = autotool("token", "new", "ci", "--scope", "billing", "--expires", "90d", cwd=tmp_path)
    token = made.stdout.strip()
    assert token.startswith("autotool_")
    kept = (tmp_path / "tokens.toml").read_text()
    assert token not in kept
    assert digest_of(token) in kept
    assert (tmp_path / "tokens.toml").stat().st_mode & 0o777 == 0o600
    assert autotool("token", "new", "ci", cwd=tmp_path).returncode == 2
    assert "ci  [billing]  until 20" in autotool("token", "list", cwd=tmp_path).stdout
    other = autotool("token", "new", "web", cwd=tmp_path).stdout.strip()
    with served(tmp_path, '[auth]\ntokens = "tokens.toml"\n') as port:
        assert call(port, "whoami", {}, token)[0] == 200
        assert call(port, "whoami", {}, other)[0] == 200
        assert autotool("token", "revoke", "ci", cwd=tmp_path).returncode == 0
        deadline = time.monotonic() + 10
        while call(port, "whoami", {}, token)[0] == 200:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert call(port, "whoami", {}, other)[0] == 200


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ({}, "A bearer token is needed"),
        ({"Authorization": "Bearer wrong"}, "not known"),
        ({"Authorization": "Bearer  {token}"}, "one space"),
        ({"Authorization": "Basic {token}"}, "one space"),
        ({"Authorization": "Bearer {token} "}, ""),
        ({"Authorization": "Bearer {token}x"}, "not known"),
        ({"Authorization": "Bearer {cut}"}, "not known"),
    ],
)
def test_without_a_good_token_nothing_is_answered(tmp_path: Path, headers: dict[str, str], said: str) -> None:
    token = autotool("token", "new", "ci", cwd=tmp_path).stdout.strip()
    filled = {name: value.format(token=token, cut=token[:-1]) for name, value in headers.items()}
    with served(tmp_path, '[auth]\ntokens = "tokens.toml"\n') as port:
        status, text, named = post(port, "tools/list", {}, None, **filled)
    if not said:
        assert status == 200  # space around a header's value is not part of it
        return
    assert status == 401
    assert said in text
    assert named["www-authenticate"].startswith("Bearer")
    assert token not in str(text)


def test_a_token_in_the_address_counts_nothing(tmp_path: Path) -> None:
    token = autotool("token", "new", "ci", cwd=tmp_path).stdout.strip()
    with (
        served(tmp_path, '[auth]\ntokens = "tokens.toml"\n') as port,
        contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=15)) as connection,
    ):
        connection.request("POST", f"/mcp?access_token={token}", "{}", {"Content-Type": "application/json"})
        assert connection.getresponse().status == 401


def test_an_expired_token_is_refused(tmp_path: Path) -> None:
    token = autotool("token", "new", "old", "--expires", "2020-01-31", cwd=tmp_path).stdout.strip()
    with served(tmp_path, '[auth]\ntokens = "tokens.toml"\n') as port:
        status, text, _ = call(port, "whoami", {}, token)
    assert (status, "expired" in text) == (401, True)


def test_many_bad_tokens_are_slowed_down(tmp_path: Path) -> None:
    token = autotool("token", "new", "ci", cwd=tmp_path).stdout.strip()
    with served(tmp_path, '[auth]\ntokens = "tokens.toml"\n') as port:
        statuses = [call(port, "whoami", {}, f"wrong{number}")[0] for number in range(14)]
        status, _, named = call(port, "whoami", {}, token)
    assert statuses == [401] * 10 + [429] * 4
    assert status == 429
    assert 1 <= int(named["retry-after"]) <= 61


def test_a_caller_sees_and_calls_what_the_scopes_open(tmp_path: Path) -> None:
    tokens = {
        name: autotool(
            "token", "new", name, *(word for scope in scopes for word in ("--scope", scope)), cwd=tmp_path
        ).stdout.strip()
        for name, scopes in {
            "clerk": ["billing"],
            "reader": ["reading"],
            "both": ["billing", "reading"],
            "none": [],
        }.items()
    }
    with served(tmp_path, f'[auth]\ntokens = "tokens.toml"\n{SCOPES}') as port:
        seen = {}
        for name, token in tokens.items():
            _, answer, _ = post(port, "tools/list", {}, token)
            assert answer["result"]["cacheScope"] == "private"
            seen[name] = [tool["name"] for tool in answer["result"]["tools"]]
        assert seen == {
            "clerk": ["billing_refund"],
            "reader": ["report", "whoami"],
            "both": ["billing_refund", "report", "whoami"],
            "none": [],
        }
        assert call(port, "billing_refund", {"amount": 1}, tokens["clerk"])[0] == 200
        status, hidden, named = call(port, "billing_refund", {"amount": 1}, tokens["reader"])
        assert status == 403
        assert named["www-authenticate"] == 'Bearer error="insufficient_scope", scope="billing"'
        _, unknown, _ = call(port, "billing_refunds", {"amount": 1}, tokens["reader"])
        assert hidden["error"]["code"] == unknown["error"]["code"] == -32602
        assert hidden["error"]["message"] == unknown["error"]["message"].replace("refunds", "refund")


def test_the_local_user_has_every_scope(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(CODE)
    (tmp_path / "autotool.toml").write_text(f'targets = ["./shop.py"]\n{SCOPES}')
    with RawClient(cwd=tmp_path) as client:
        assert len(client.tools()) == 3


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_other_machines_are_not_served_without_auth(tmp_path: Path, host: str) -> None:
    (tmp_path / "shop.py").write_text(CODE)
    refused = autotool("serve", "./shop.py", "--http", "--host", host, "--port", "0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "nobody would have to say who they are" in refused.stderr
    assert "--no-auth" in refused.stderr


def test_no_auth_is_said_out_loud(tmp_path: Path) -> None:
    with served(tmp_path, '[server]\nhosts = ["127.0.0.1"]\n', "--host", "0.0.0.0", "--no-auth") as port:
        assert call(port, "whoami", {}, None)[0] == 200


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('[auth]\ntokens = "none.toml"\n', "there is no file none.toml"),
        ('[auth]\nissuer = "https://x"\n', "`auth.issuer` needs `auth.jwks`"),
        ('[auth]\nissuer = "https://x"\njwks = "none.json"\n', "none.json has no keys"),
        ('[auth]\nissuer = "https://x"\njwks = "k.json"\nalgorithms = ["HS256"]\n', "HS256 is not allowed"),
        ('[auth]\ntoken = "x"\n', "Did you mean `tokens`?"),
    ],
)
def test_a_mistake_in_auth_is_one_line(tmp_path: Path, toml: str, said: str) -> None:
    (tmp_path / "shop.py").write_text(CODE)
    (tmp_path / "autotool.toml").write_text(f'targets = ["./shop.py"]\n{toml}')
    finished = autotool("serve", "--http", "--port", "0", cwd=tmp_path)
    assert finished.returncode == 2
    assert said in finished.stderr
    assert "Traceback" not in finished.stderr


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048, {"kid": "one"})


def signed(key: RSAKey, **changes: Any) -> str:
    now = int(time.time())
    claims = {"iss": ISSUER, "aud": RESOURCE, "sub": "ann", "exp": now + 300, "scope": "billing other", **changes}
    header = {"alg": "RS256", "kid": key.kid}
    return jwt.encode(header, {name: value for name, value in claims.items() if value is not None}, key)


def test_tokens_of_an_issuer_are_checked(tmp_path: Path, key: RSAKey) -> None:
    (tmp_path / "keys.json").write_text(json.dumps(KeySet([key]).as_dict(private=False)))
    toml = f'[auth]\nissuer = "{ISSUER}"\nresource = "{RESOURCE}"\njwks = "keys.json"\n{SCOPES}'
    stranger = RSAKey.generate_key(2048, {"kid": "one"})
    now = int(time.time())
    with served(tmp_path, toml) as port:
        status, answer, _ = post(port, "tools/list", {}, signed(key))
        assert status == 200
        assert [tool["name"] for tool in answer["result"]["tools"]] == ["billing_refund"]
        for token, said in [
            (signed(stranger), "signature"),
            (signed(key, iss="https://evil.example"), "issuer"),
            (signed(key, aud="https://other.example/mcp"), "audience"),
            (signed(key, exp=now - 100), "expired"),
            (signed(key, exp=None), "expired"),
            (signed(key, nbf=now + 900), "not valid yet"),
            (signed(key, sub=None), "whom it speaks for"),
            (signed(key)[:-4] + "AAAA", "signature"),
            ("eyJhbGciOiJub25lIn0." + signed(key).split(".")[1] + ".", ""),
        ]:
            status, text, named = call(port, "billing_refund", {"amount": 1}, token)
            assert status == 401, said
            assert said in text
            metadata = "https://tools.example/.well-known/oauth-protected-resource/mcp"
            assert named["www-authenticate"] == f'Bearer resource_metadata="{metadata}", error="invalid_token"'
    with served(tmp_path, toml) as port:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=15)) as connection:
            connection.request("GET", "/.well-known/oauth-protected-resource/mcp")
            facts = json.loads(connection.getresponse().read())
        assert facts == {
            "resource": RESOURCE,
            "authorization_servers": [ISSUER],
            "scopes_supported": ["billing", "reading"],
            "bearer_methods_supported": ["header"],
        }


def test_keys_are_fetched_and_fetched_again_when_they_change(tmp_path: Path, key: RSAKey) -> None:
    newer = RSAKey.generate_key(2048, {"kid": "two"})
    served_keys = tmp_path / "jwks"
    served_keys.mkdir()
    (served_keys / "keys.json").write_text(json.dumps(KeySet([key, newer]).as_dict(private=False)))
    files = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", str(served_keys)]
    with subprocess.Popen(files, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        found = re.search(r"port (\d+)", server.stdout.readline())
        assert found is not None
        toml = f'[auth]\nissuer = "{ISSUER}"\nresource = "{RESOURCE}"\njwks = "http://127.0.0.1:{found.group(1)}/keys.json"\n'
        with served(tmp_path, toml) as port:
            assert call(port, "whoami", {}, signed(key))[0] == 200
            assert call(port, "whoami", {}, signed(newer))[0] == 200
            assert call(port, "whoami", {}, signed(RSAKey.generate_key(2048, {"kid": "three"})))[0] == 401
        server.terminate()
        server.wait(5)
