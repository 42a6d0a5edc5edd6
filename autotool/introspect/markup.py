"""reStructuredText as words: roles, directives and the like are for Sphinx, not for a reader."""

from __future__ import annotations

import re

_ROLE = re.compile(r":(?:[a-z]+:)?[a-z]+:`(?P<short>~)?!?(?P<text>[^`<]*?)(?:\s*<[^`>]*>)?`")
_DIRECTIVE = re.compile(r"^(?P<indent>[ \t]*)\.\.[ \t]+(?P<name>[a-z][a-z-]*)::[ \t]*(?P<rest>.*)$", re.MULTILINE)
_TARGET = re.compile(r"^[ \t]*\.\. _[^\n]*\n?", re.MULTILINE)
_LITERAL_BLOCK = re.compile(r"(?<=\w)::[ \t]*$", re.MULTILINE)
_BLANKS = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")
_SAID = {
    "versionadded": "Added in version {}",
    "versionchanged": "Changed in version {}",
    "deprecated": "Deprecated since version {}",
    "seealso": "See also: {}",
}
_SILENT = frozenset({"code-block", "code", "sourcecode", "highlight", "plot", "ipython", "doctest", "testcode"})


def readable(text: str) -> str:
    """The text without markup that only Sphinx reads; code and emphasis stay as people write them."""
    if ":" in text:
        text = _ROLE.sub(_role, text)
        if ".. " in text:
            text = _DIRECTIVE.sub(_directive, _TARGET.sub("", text))
        text = _LITERAL_BLOCK.sub(":", text)
    text = "\n".join(line.rstrip() for line in text.splitlines())
    return _BLANKS.sub("\n\n", text).strip("\n")


def _role(match: re.Match[str]) -> str:
    text = match["text"]
    return f"`{text.rpartition('.')[2] if match['short'] else text}`"


def _directive(match: re.Match[str]) -> str:
    name, rest = match["name"], match["rest"].strip()
    if name in _SILENT:
        return ""
    if name in _SAID:
        return match["indent"] + _SAID[name].format(rest).rstrip()
    return f"{match['indent']}{name.replace('-', ' ').capitalize()}: {rest}".rstrip()
