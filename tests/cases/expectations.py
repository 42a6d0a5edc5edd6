"""What a case demands of a tool definition and of a call, checked strictly. Each function gives a list of what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

NOT_A_VALUE = object()


def strict_json(text: str) -> Any:
    def refuse(word: str) -> Any:
        raise ValueError(word)

    return json.loads(text, parse_constant=refuse)


def text_problems(text: str, rules: dict[str, Any], where: str) -> list[str]:
    found: list[str] = []
    if "equals" in rules and text != rules["equals"]:
        found.append(f"{where}: {text!r} is not {rules['equals']!r}")
    found += [f"{where} lacks {part!r}: {text!r}" for part in rules.get("contains", ()) if part not in text]
    found += [f"{where} has {part!r}: {text!r}" for part in rules.get("not_contains", ()) if part in text]
    if len(text) > rules.get("max_len", len(text)):
        found.append(f"{where} is {len(text)} long")
    if rules.get("nonempty") and not text.strip():
        found.append(f"{where} is empty")
    return found


_TEXT_RULES = {"equals", "contains", "not_contains", "max_len", "nonempty"}


def subset_problems(want: Any, got: Any, where: str) -> list[str]:
    if isinstance(want, dict):
        if where.endswith(".description") and set(want) <= _TEXT_RULES:
            return text_problems(got if isinstance(got, str) else "", want, where)
        if not isinstance(got, dict):
            return [f"{where}: {got!r} is no object"]
        problems: list[str] = []
        for key, value in want.items():
            problems += (
                subset_problems(value, got[key], f"{where}.{key}") if key in got else [f"{where}.{key} is missing"]
            )
        return problems
    return [] if want == got and type(want) is type(got) else [f"{where}: want {want!r}, got {got!r}"]


def schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema; names of properties are not keywords."""
    if not isinstance(node, dict):
        return
    yield node
    for key in ("properties", "$defs", "patternProperties"):
        for below in node.get(key, {}).values():
            yield from schemas(below)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for below in node.get(key, ()):
            yield from schemas(below)
    for key in ("items", "additionalProperties", "not", "if"):
        yield from schemas(node.get(key))


def _references_resolve(root: dict[str, Any]) -> bool:
    names = [node["$ref"] for node in schemas(root) if "$ref" in node]
    return all(name.startswith("#/$defs/") and name.removeprefix("#/$defs/") in root.get("$defs", {}) for name in names)


def definition_problems(tool: dict[str, Any], expect: dict[str, Any]) -> list[str]:
    schema = tool["inputSchema"]
    properties = schema.get("properties", {})
    found: list[str] = []
    if "name" in expect and tool["name"] != expect["name"]:
        found.append(f"name {tool['name']}")
    if "description" in expect:
        found += text_problems(tool.get("description", ""), expect["description"], "description")
    if "props" in expect and sorted(properties) != sorted(expect["props"]):
        found.append(f"parameters {list(properties)}")
    if "required" in expect and schema.get("required", []) != expect["required"]:
        found.append(f"required {schema.get('required')}")
    found += subset_problems(expect.get("properties", {}), properties, "properties")
    for name, keys in expect.get("prop_lacks", {}).items():
        found += [f"{name} has {key}: {properties[name]}" for key in keys if key in properties.get(name, {})]
    found += [f"{name} is offered" for name in expect.get("hidden", ()) if name in properties]
    if "every_prop" in expect:
        found += [f"parameter {name!r}" for name in properties if not re.search(expect["every_prop"], name)]
    if "additional" in expect and schema.get("additionalProperties") != expect["additional"]:
        found.append(f"additionalProperties {schema.get('additionalProperties')}")
    for keyword in expect.get("schema_lacks", ()):
        found += [f"{keyword} in {node}" for node in schemas(schema) if keyword in node]
    if "top_level_type" in expect and schema.get("type") != expect["top_level_type"]:
        found.append(f"top level type {schema.get('type')}")
    found += [f"{key} at the top" for key in expect.get("top_level_lacks", ()) if key in schema]
    found += subset_problems(expect.get("exact_schema_has", {}), schema, "schema")
    if expect.get("arrays_have_items"):
        found += [
            f"array without items: {node}"
            for node in schemas(schema)
            if node.get("type") == "array" and "items" not in node
        ]
    if expect.get("schema_refs_resolve") and not _references_resolve(schema):
        found.append("a reference does not resolve")
    output = tool.get("outputSchema")
    if "output_type" in expect and output is not None and output.get("type") != expect["output_type"]:
        found.append(f"output type {output}")
    return found


def call_problems(answer: dict[str, Any], want: dict[str, Any]) -> list[str]:
    if "error" in answer:
        return [f"protocol error {answer['error']}"]
    result = answer["result"]
    texts = [block["text"] for block in result["content"] if block["type"] == "text"]
    text = "\n".join(texts)
    is_error = bool(result.get("isError"))
    found: list[str] = []
    if want.get("error") and not is_error:
        found.append(f"accepted: {text!r}")
    if is_error and ("value" in want or want.get("is_error") is False):
        found.append(f"refused: {text!r}")
    if "value" in want and not is_error:
        got = value_of(result, text)
        if got != want["value"]:
            found.append(f"value {got!r}, want {want['value']!r}")
    if "value_in" in want and value_of(result, text) not in want["value_in"]:
        found.append(f"value {value_of(result, text)!r}")
    folded = text.lower()
    found += [f"does not mention {part!r}: {text!r}" for part in want.get("mentions", ()) if part.lower() not in folded]
    found += [f"mentions {part!r}: {text!r}" for part in want.get("not_mentions", ()) if part.lower() in folded]
    if "blocks" in want and len(result["content"]) != want["blocks"]:
        found.append(f"{len(result['content'])} blocks")
    if "text" in want and text != want["text"]:
        found.append(f"text {text!r}")
    found += [f"text lacks {part!r}: {text[:500]!r}" for part in want.get("text_contains", ()) if part not in text]
    everything = text + json.dumps(result.get("structuredContent"), ensure_ascii=False)
    found += [
        f"text has {part!r}: {text[:500]!r}"
        for part in want.get("text_lacks", ())
        if part in everything and (part in text or part not in ('"9007199254740991"',))
    ]
    if len(text) > want.get("text_max", len(text)):
        found.append(f"text of {len(text)} characters")
    if want.get("text_nonempty") and not text.strip():
        found.append("empty text")
    if "text_json" in want and strict_json(text) != want["text_json"]:
        found.append(f"text {text!r}")
    if want.get("strict_json"):
        try:
            strict_json(text)
        except ValueError:
            found.append(f"not strict JSON: {text!r}")
    return found


def value_of(result: dict[str, Any], text: str) -> Any:
    if "structuredContent" in result:
        structured = result["structuredContent"]
        return structured["result"] if isinstance(structured, dict) and list(structured) == ["result"] else structured
    try:
        return strict_json(text)
    except ValueError:
        return text
