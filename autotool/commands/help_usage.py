"""Usage lines: `[-a | --all] [-b ADDRESS] (-x | -y) SOURCE... [DEST]`, read for options, operands and what excludes what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Literal

from autotool.commands.form import Operand
from autotool.commands.help_values import parameter_name, value_of

_TOKEN = re.compile(
    r"(?P<open>[\[(])|(?P<close>[\])])|(?P<bar>\|)|(?P<dots>\.\.\.)|(?P<flag>--?(?:\[no-\])?[A-Za-z0-9?][\w-]*|--(?=[\s\]]))"
    r"|(?P<angle><[^>]*>)|(?P<brace>\{[^}]*\})|(?P<word>[^\s\[\]()|<>{}.]+(?:\.(?!\.\.)[^\s\[\]()|<>{}.]*)*|\.)"
)
_PLACEHOLDERS = re.compile(
    r"(general[ _-]|global[ _-]|common[ _-])?(opts?|options?|flags?|switches|package-index-options)[\w -]*|-+|ctl_cmd",
    re.IGNORECASE,
)
_COMMANDS = re.compile(r"(sub[ _-]?)?(command|cmd|action)s?", re.IGNORECASE)
_ASKING = ("--help", "--version")


@dataclass(frozen=True)
class Node:
    """A part of a usage line: a flag, a name, or a group of alternatives."""

    kind: str
    text: str = ""
    glued: bool = False
    dots: bool = False
    is_optional: bool = False
    alternatives: tuple[tuple[Node, ...], ...] = ()


@dataclass
class UsedOption:
    """An option as a usage line shows it; `is_bracketed`: the brackets around it tell where its value ends."""

    flag: str
    negative: str = ""
    metavar: str = ""
    is_optional_value: bool = False
    is_required: bool = False
    is_bracketed: bool = False
    joint: Literal["", "=", " ", "none"] = ""
    repeats: bool = False


@dataclass
class Usage:
    """What usage lines say.

    Attributes:
        groups: flags of which at most one may be given, and whether one must be.
        has_commands: whether a subcommand stands there.
    """

    options: list[UsedOption] = field(default_factory=list[UsedOption])
    operands: list[Operand] = field(default_factory=list[Operand])
    groups: list[tuple[tuple[str, ...], bool]] = field(default_factory=list[tuple[tuple[str, ...], bool]])
    has_commands: bool = False
    has_options: bool = False


def read(lines: Sequence[str], command: Sequence[str]) -> Usage:
    """Merge several usage lines, each already one line, without the word `usage:`."""
    read_lines = [_read_line(_parsed(line), command) for line in lines]
    read_lines = [usage for usage in read_lines if usage is not None] or [Usage()]
    merged = Usage()
    for usage in read_lines:
        known = {option.flag for option in merged.options}
        merged.options += [option for option in usage.options if option.flag not in known]
        merged.groups += [group for group in usage.groups if group not in merged.groups]
        merged.has_commands = merged.has_commands or usage.has_commands
        merged.has_options = merged.has_options or usage.has_options
    if len(read_lines) > 1:
        # What is required in one way of using a program need not be in another.
        everywhere = [{option.flag for option in usage.options if option.is_required} for usage in read_lines]
        for option in merged.options:
            option.is_required = all(option.flag in flags for flags in everywhere)
    merged.operands = _merged_operands([usage.operands for usage in read_lines])
    return merged


def _parsed(line: str) -> tuple[Node, ...]:
    tokens = list(_TOKEN.finditer(line))
    alternatives, _ = _sequence(tokens, 0, depth=0)
    nodes = alternatives[0]
    if len(alternatives) > 1:
        # A bar outside of brackets (`install|remove pkg`, `-a|-b`) stands between two words.
        nodes = tuple(node for alternative in alternatives for node in alternative)
    return nodes


def _sequence(tokens: list[re.Match[str]], at: int, *, depth: int) -> tuple[list[tuple[Node, ...]], int]:
    alternatives: list[list[Node]] = [[]]
    while at < len(tokens):
        token = tokens[at]
        kind = token.lastgroup or ""
        glued = at > 0 and tokens[at - 1].end() == token.start()
        at += 1
        if kind == "close":
            if depth:
                break
            continue  # one bracket too many is not the end of the line
        if kind == "bar":
            alternatives.append([])
        elif kind == "dots":
            _dot(alternatives[-1], glued=glued)
        elif kind == "open":
            inner, at = _sequence(tokens, at, depth=depth + 1)
            node = Node("group", glued=glued, is_optional=token.group() == "[", alternatives=tuple(inner))
            alternatives[-1].append(node)
        else:
            alternatives[-1].append(Node("flag" if kind == "flag" else "text", token.group(), glued))
    return [tuple(alternative) for alternative in alternatives], at


def _dot(nodes: list[Node], *, glued: bool) -> None:
    if nodes:
        nodes[-1] = replace(nodes[-1], dots=True)
    else:
        nodes.append(Node("text", "...", glued))


def _read_line(nodes: tuple[Node, ...], command: Sequence[str]) -> Usage | None:
    """One usage line; None when it is of another program or subcommand."""
    rest = _after_program(nodes, command)
    if rest is None:
        return None
    usage = Usage()
    _Walk(usage).sequence(rest, optional=False)
    return usage


def _after_program(nodes: tuple[Node, ...], command: Sequence[str]) -> tuple[Node, ...] | None:
    """The nodes after the program's own words, which stand at the beginning."""
    if not nodes or nodes[0].kind != "text":
        return nodes
    at = 1
    words = [PurePath(word).name for word in command]
    if len(words) > 1 and _is_word(nodes[0]) and nodes[0].text == words[0] and len(nodes) > 1 and _is_word(nodes[1]):
        # `git show` is not `git log`.
        others = nodes[1].text
        if others not in words and not any(_is_word(node) and node.text in words for node in nodes[1:3]):
            return None
    while at < len(nodes) and (_is_word(nodes[at]) or nodes[at].kind == "flag") and nodes[at].text in words[1:]:
        at += 1
    return nodes[at:]


def _is_word(node: Node) -> bool:
    return node.kind == "text" and not node.dots and node.text[:1] not in "<{"


class _Walk:
    """Collects what the nodes of one usage line say."""

    def __init__(self, usage: Usage) -> None:
        self._usage = usage
        self._after_dashes = False
        self._depth = 0

    def sequence(self, nodes: Sequence[Node], *, optional: bool) -> None:
        at = 0
        while at < len(nodes):
            node = nodes[at]
            if node.kind == "flag":
                at = self._flag(nodes, at, optional=optional)
            elif self._depth and _are_flags(node) and at + 1 < len(nodes) and nodes[at + 1].kind == "text":
                at = self._shared_value(nodes, at)
            elif node.kind == "group":
                self._group(node, optional=optional, before=nodes[at - 1] if at else None)
                at += 1
            else:
                at = self._name(nodes, at, optional=optional)

    def _flag(self, nodes: Sequence[Node], at: int, *, optional: bool) -> int:
        node = nodes[at]
        at += 1
        if node.text == "--":
            self._after_dashes = True
            return at
        option = _used(node)
        option.is_required, option.is_bracketed = not optional, optional
        option.repeats = node.dots
        at = _values(nodes, at, option, inside=self._depth > 0)
        self._add(option)
        return at

    def _shared_value(self, nodes: Sequence[Node], at: int) -> int:
        """`(-c | -C | --squash) <commit>`: the value of each of the flags."""
        for alternative in nodes[at].alternatives:
            option = _used(alternative[0])
            option.metavar = nodes[at + 1].text
            self._add(option)
        return at + 2

    def _add(self, option: UsedOption) -> None:
        body = option.flag[1:]
        if not option.flag.startswith("--") and len(body) > 2 and not option.metavar and _is_cluster(body):
            for letter in body:
                self._usage.options.append(UsedOption(f"-{letter}"))
        elif option.flag not in [known.flag for known in self._usage.options]:
            self._usage.options.append(option)

    def _group(self, node: Node, *, optional: bool, before: Node | None) -> None:
        self._depth += 1
        self._inside(node, optional=optional, before=before)
        self._depth -= 1

    def _inside(self, node: Node, *, optional: bool, before: Node | None) -> None:
        is_optional = optional or node.is_optional
        if len(node.alternatives) > 1:
            self._alternatives(node, optional=is_optional)
            return
        inner = next(iter(node.alternatives))
        if [one.text for one in inner] == ["--"]:
            self._after_dashes = True
            return
        if [one.text for one in inner] == ["..."] or (before is not None and _is_more_of(before, inner)):
            self._repeat_last()
            return
        self.sequence(_spread(inner) if node.dots else inner, optional=is_optional)

    def _repeat_last(self) -> None:
        if self._usage.operands:
            self._usage.operands[-1] = replace(self._usage.operands[-1], most=None)

    def _alternatives(self, node: Node, *, optional: bool) -> None:
        flagged = [one for one in node.alternatives if one and one[0].kind == "flag" and one[0].text != "--"]
        if len(flagged) == len(node.alternatives):
            if any(one[0].text in _ASKING for one in flagged):
                return
            for alternative in flagged:
                self.sequence(alternative, optional=True)
            flags = tuple(_used(alternative[0]).flag for alternative in flagged)
            self._usage.groups.append((flags, not optional))
            return
        plain = [one for one in node.alternatives if one and one[0].kind == "text"]
        for alternative in flagged:
            self.sequence(alternative, optional=True)
        if plain and not flagged:
            words = [one[0].text for one in plain]
            literal = all(
                len(one) == 1 and word[:1] not in "<{" and word.islower()
                for one, word in zip(plain, words, strict=True)
            )
            name = "|".join(words) if literal and len(words) == len(node.alternatives) else words[0]
            self._operand(name, optional=optional, dots=node.dots)
        elif plain:
            self._operand(plain[0][0].text, optional=True, dots=node.dots)

    def _name(self, nodes: Sequence[Node], at: int, *, optional: bool) -> int:
        node = nodes[at]
        dots = node.dots
        name = node.text
        at += 1
        while at < len(nodes) and nodes[at].glued and nodes[at].kind != "flag":
            glued = nodes[at]
            dots = dots or glued.dots
            if glued.kind == "text":
                name = f"{name}{glued.text}"
            at += 1
        self._operand(name, optional=optional, dots=dots)
        return at

    def _operand(self, name: str, *, optional: bool, dots: bool) -> None:
        shown = name.strip("<>{}").strip()
        bare = shown.split("=")[0].split(":")[0].strip("[]+@ ")
        usage = self._usage
        if not bare or bare == "..." or _PLACEHOLDERS.fullmatch(bare):
            usage.has_options = usage.has_options or bool(bare)
            return
        if _COMMANDS.fullmatch(bare) and not dots:
            usage.has_commands = True
        parameter = parameter_name(bare)
        if usage.operands and usage.operands[-1].name == parameter:
            self._repeat_last()
            return
        value = value_of(name if "|" in name else "", "")
        # `[+FORMAT]`: a sign that belongs to the value.
        sign = shown[0] if shown[0] in "+@" else ""
        said = f"Written as `{shown}`, with the `{sign}`." if sign else ""
        usage.operands.append(
            Operand(
                parameter,
                value,
                0 if optional else 1,
                None if dots else 1,
                self._after_dashes and optional,
                description=said,
            )
        )


def _used(node: Node) -> UsedOption:
    if node.text.startswith("--[no-]"):
        name = node.text.removeprefix("--[no-]")
        return UsedOption(f"--{name}", f"--no-{name}")
    return UsedOption(node.text)


def _are_flags(node: Node) -> bool:
    return node.kind == "group" and all(
        len(one) == 1 and one[0].kind == "flag" and one[0].text != "--" for one in node.alternatives
    )


def _values(nodes: Sequence[Node], at: int, option: UsedOption, *, inside: bool) -> int:
    """Read what belongs to a flag: glued parts, or the names up to the end of its group."""
    glued = ""
    while at < len(nodes) and nodes[at].glued and nodes[at].kind != "flag":
        node = nodes[at]
        option.is_optional_value = option.is_optional_value or (node.kind == "group" and node.is_optional and not glued)
        glued += _shown(node)
        at += 1
    if glued:
        option.metavar, option.joint = glued.lstrip("=") or "VALUE", "=" if glued.startswith("=") else "none"
        return at
    words: list[str] = []
    while at < len(nodes) and (
        nodes[at].kind == "text" or (inside and nodes[at].kind == "group" and not _has_flags(nodes[at]))
    ):
        node = nodes[at]
        if node.kind == "group" and not words and at == len(nodes) - 1:
            option.is_optional_value = node.is_optional
        shown = (
            _shown(node)
            if node.kind == "text" or option.is_optional_value
            else f"[{_shown(node)}{' ...' if node.dots or any(one.dots for way in node.alternatives for one in way) else ''}]"
        )
        words = [*words[:-1], words[-1] + shown] if node.glued and words else [*words, shown]
        option.repeats = option.repeats or (node.dots and node.kind == "text")
        at += 1
    option.metavar = " ".join(words)
    return at


def _shown(node: Node) -> str:
    if node.kind != "group":
        return node.text
    return "|".join("".join(_shown(inner) for inner in alternative) for alternative in node.alternatives)


def _has_flags(node: Node) -> bool:
    return any(inner.kind == "flag" for alternative in node.alternatives for inner in alternative)


def _is_more_of(before: Node, inner: tuple[Node, ...]) -> bool:
    """`FILE [FILE ...]`: the same name again."""
    return len(inner) == 1 and inner[0].kind == "text" and before.kind == "text" and inner[0].text == before.text


def _spread(inner: tuple[Node, ...]) -> tuple[Node, ...]:
    return (*inner[:-1], replace(inner[-1], dots=True)) if inner else inner


def _is_cluster(body: str) -> bool:
    """`-46AaCfG`: many letters after one dash; `-name` is a word."""
    return (
        body.isalnum() and (len(set(body)) == len(body)) and not (body.islower() and len(body) > 3 and _vowelled(body))
    )


def _vowelled(body: str) -> bool:
    return bool(re.search("[aeiouy]", body)) and not body.isupper()


def _merged_operands(ways: list[list[Operand]]) -> list[Operand]:
    """The operands of all ways to use a program: by position, as loose as the loosest."""
    ways = [way for way in ways if way] + [[] for way in ways if not way]
    if not ways or not ways[0]:
        return []
    first = ways[0]
    alike = [way for way in ways[1:] if len(way) == len(first)]
    some_without = any(not way for way in ways)
    merged: list[Operand] = []
    for place, operand in enumerate(first):
        others = [way[place] for way in alike]
        least = 0 if some_without else min([operand.least, *(other.least for other in others)])
        most = None if operand.most is None or any(other.most is None for other in others) else 1
        merged.append(replace(operand, least=least, most=most))
    return list(_unique(merged))


def _unique(operands: list[Operand]) -> Iterator[Operand]:
    seen: set[str] = set()
    for operand in operands:
        name, count = operand.name, 2
        while name in seen:
            name, count = f"{operand.name}_{count}", count + 1
        seen.add(name)
        yield replace(operand, name=name)
