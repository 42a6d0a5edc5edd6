"""The functions that the Model Context Protocol's conformance suite calls, written as plain Python.

autotool serve examples/conformance.py --http
"""

import base64
from typing import Any

import autotool
from autotool import Context, Question

_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_simple_text() -> str:
    """Give a fixed sentence."""
    return "This is a simple text response for testing."


def test_image_content() -> bytes:
    """Give a picture of one pixel."""
    return _PNG


def test_error_handling() -> str:
    """Fail, always."""
    raise RuntimeError("This tool intentionally returns an error for testing")


@autotool.tool(
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
def json_schema_2020_12_tool(**contact: object) -> str:
    """Take a contact, described by a schema that is written out."""
    return f"{contact.get('name', 'somebody')} by {contact.get('contactMethod', 'any way')}"


_NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def test_input_required_result_elicitation(ctx: Context) -> str:
    """Greet a person by the name that they give."""
    return f"Hello, {ctx.ask('What is your name?', _NAME, key='user_name')['name']}!"


def test_input_required_result_sampling(ctx: Context) -> str:
    """Have the client's model answer."""
    return ctx.sample("What is the capital of France?", max_tokens=100, key="capital_question")


def test_input_required_result_list_roots(ctx: Context) -> list[str]:
    """Tell the folders that the client works in."""
    return ctx.roots(key="client_roots")


def test_input_required_result_request_state(ctx: Context) -> str:
    """Ask for a confirmation."""
    return f"confirmed: {ctx.ask('Please confirm', {'ok': bool}, key='confirm')['ok']}"


def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Ask for a confirmation whose state must come back as it was given."""
    return test_input_required_result_request_state(ctx)


def test_input_required_result_multiple_inputs(ctx: Context) -> str:
    """Ask for three things of different kinds in one round."""
    message = {"role": "user", "content": {"type": "text", "text": "Generate a greeting"}}
    form = {"mode": "form", "message": "What is your name?", "requestedSchema": _NAME}
    found = ctx.need(
        {
            "user_name": {"method": "elicitation/create", "params": form},
            "greeting": {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 50}},
            "client_roots": {"method": "roots/list", "params": {}},
        }
    )
    return f"{len(found)} answers"


def test_input_required_result_multi_round(ctx: Context) -> str:
    """Ask twice, one after the other."""
    name = ctx.ask("Step 1: What is your name?", {"name": str}, key="step1")["name"]
    colour = ctx.ask("Step 2: What is your favorite color?", {"color": str}, key="step2")["color"]
    return f"{name} likes {colour}"


def test_input_required_result_capabilities(ctx: Context) -> Any:
    """Ask in the way that the client can be asked."""
    if ctx.can_ask:
        return ctx.ask("Yes?", {"yes": bool}, key="yes")
    return ctx.sample("Yes?", key="yes")


def test_missing_capability(ctx: Context) -> str:
    """Need the client's model."""
    return ctx.sample("Anything?")


def test_streaming_elicitation(ctx: Context) -> str:
    """Ask for a name in the middle of a call."""
    return str(ctx.ask("What is your name?", {"name": str}, key="user_name"))


def test_elicitation(message: str, ctx: Context) -> str:
    """Put a question of the caller's to the person."""
    fields = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    schema = {"type": "object", "properties": fields, "required": ["username", "email"]}
    answers = ctx.ask_all({"question": Question(message, schema)})
    return f"User response: action=accept, content={answers['question']}"


def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask with defaults of every kind."""
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    found = ctx.ask("Please check these.", {"type": "object", "properties": fields, "required": []})
    return f"Elicitation completed: action=accept, content={found}"


def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask with choices of every kind."""
    options = ["option1", "option2", "option3"]
    titled = [{"const": f"value{n}", "title": title} for n, title in enumerate(["First", "Second", "Third"], 1)]
    fields: dict[str, Any] = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    found = ctx.ask("Please choose.", {"type": "object", "properties": fields, "required": []})
    return f"Elicitation completed: action=accept, content={found}"
