"""JSON-RPC 2.0 messages: told apart, checked, and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from autotool.errors import ProtocolError
from autotool.protocol.codec import INVALID_REQUEST, encode

INVALID_PARAMS = -32602
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

_MAX_ID_CHARS = 128
_MAX_ID = 2**53

RequestId = str | int

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_SERVER = "io.modelcontextprotocol/serverInfo"

_MESSAGE_NAMES = {"jsonrpc", "id", "method", "params", "result", "error"}
_PARAM_NAMES = {
    "name",
    "arguments",
    "_meta",
    "cursor",
    "protocolVersion",
    "capabilities",
    "clientInfo",
    "requestId",
    "inputResponses",
    "requestState",
    "notifications",
}


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `meta` is `params._meta`, an empty mapping where there is none."""

    id: RequestId
    method: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants no answer."""

    method: str
    params: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class ClientResponse:
    """The client's answer to a request of the server's."""

    id: RequestId
    body: dict[str, Any]


Message = Request | Notification | ClientResponse


class InvalidMessage(ProtocolError):
    """A message that is JSON but not JSON-RPC; `request_id` is its id where it has a usable one."""

    def __init__(self, message: str, request_id: RequestId | None = None) -> None:
        super().__init__(INVALID_REQUEST, message)
        self.request_id = request_id


def parse(value: Any) -> Message:
    """Tell what kind of message a JSON value is.

    Raises:
        InvalidMessage: none.
    """
    if isinstance(value, list):
        raise InvalidMessage("Batches are not taken; send one message at a time.")
    if not isinstance(value, dict):
        raise InvalidMessage("A message is a JSON object.")
    plain = cast("dict[str, Any]", value)
    request_id = _usable_id(plain.get("id"))
    if plain.get("jsonrpc") != "2.0":
        raise InvalidMessage('A message has "jsonrpc": "2.0".', request_id)
    _refuse_lookalikes(plain, _MESSAGE_NAMES, request_id)
    if "method" not in plain:
        if request_id is not None and ("result" in plain or "error" in plain):
            return ClientResponse(request_id, plain)
        raise InvalidMessage("A message has a `method`.", request_id)
    method = plain["method"]
    if not isinstance(method, str) or not method:
        raise InvalidMessage("`method` is a string.", request_id)
    params = plain.get("params", {})
    if not isinstance(params, dict):
        raise InvalidMessage("`params` is an object.", request_id)
    found = cast("dict[str, Any]", params)
    _refuse_lookalikes(found, _PARAM_NAMES, request_id)
    if "id" not in plain:
        return Notification(method, found)
    if request_id is None:
        raise InvalidMessage(f"`id` is a string of at most {_MAX_ID_CHARS} characters or an integer within ±2^53.")
    meta = found.get("_meta")
    return Request(request_id, method, found, cast("dict[str, Any]", meta) if isinstance(meta, dict) else {})


def _usable_id(value: Any) -> RequestId | None:
    if isinstance(value, str) and len(value) <= _MAX_ID_CHARS:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _MAX_ID:
        return value
    return None


def _refuse_lookalikes(plain: Mapping[str, Any], known: set[str], request_id: RequestId | None) -> None:
    """`Name` beside `name` would mean one thing to us and another to a looser reader on the way."""
    for name in plain:
        if name not in known and name.lower() in known:
            raise InvalidMessage(
                f"`{name[:32]}` is not known; names are case-sensitive: `{name.lower()[:32]}`.", request_id
            )


def result_message(request_id: RequestId, result: bytes) -> bytes:
    """A response around an already serialised result."""
    return b'{"jsonrpc":"2.0","id":' + encode(request_id) + b',"result":' + result + b"}"


def error_message(error: ProtocolError, request_id: RequestId | None) -> bytes:
    """An error response; without a usable id it has `"id": null`, as JSON-RPC 2.0, section 5, has it."""
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def request_message(request_id: RequestId, method: str, params: Mapping[str, Any]) -> bytes:
    """A request of the server's, which only legacy clients are sent."""
    return encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def notification_message(method: str, params: Mapping[str, Any]) -> bytes:
    """A notification of the server's."""
    return encode({"jsonrpc": "2.0", "method": method, "params": params})
