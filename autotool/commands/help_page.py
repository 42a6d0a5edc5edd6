"""The text that a program prints when it is asked for help, read into the form of its command line.

Judged by what stands there and never by which program it is: usage lines, option tables of any of the common styles, lists of
subcommands. What looks like an option and cannot be read is left out and told, not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from autotool.commands import conventions, dangers, help_flags, help_usage
from autotool.commands.drafting import preferred
from autotool.commands.form import Form, Operand, Option, Style, Subcommand, Value
from autotool.commands.help_clean import lines_of
from autotool.commands.help_commands import subcommands_of
from autotool.commands.help_flags import Head, Joint
from autotool.commands.help_table import Entry, Table
from autotool.commands.help_usage import Usage, UsedOption
from autotool.commands.help_values import is_repeated_type, value_of

_USAGE = re.compile(r"^\s*(?:usage|synopsis)\s*:?\s*(?P<rest>.*)$", re.IGNORECASE)
_OR = re.compile(r"^\s+or:\s+(?P<rest>.*)$")
_HEADING = re.compile(r"^\s{0,4}\S.*:$|^[A-Z][A-Z &/-]{3,}$|^[A-Z][\w ]* (options|arguments)$", re.IGNORECASE)
_REPEATS = re.compile(
    r"(used|given|specified|repeated|supplied|passed) (multiple|several|many|more than one|more than once) ?(times)?|may be repeated"
    r"|can be repeated|multiple times|more than once|multiple -\w options|\[multiple\]",
    re.IGNORECASE,
)
_HELP = frozenset({"--help", "--version", "-?", "-help", "-version"})
_ABOUT_HELP = re.compile(
    r"\b(this (help|message)|usage information|help (message|text|screen)|print help|version)\b", re.IGNORECASE
)
_NUMBERS = ("-NUM", "-NUMBER", "-num", "-number")
"""A spelling that stands for any number (`grep -5`) has no name of its own."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPACES = re.compile(r"\s+")


def parse(text: str, command: Sequence[str]) -> Form:
    """Read a help text.

    Args:
        command: the words that were asked, without the option that asks: `("git", "log")`.
    """
    lines = lines_of(text)
    usage_lines, start, end = _usage_block(lines, command)
    usage = help_usage.read(usage_lines, command)
    table = Table().read(lines[:start] + lines[end:])
    entries, unread = table.entries, table.unread
    subcommands = subcommands_of(lines[:start] + lines[end:], has_commands=usage.has_commands)
    style = _style(text, command)
    options = _options(entries, usage, command, text, style, unread)
    operands = _operands(usage, table.operands, subcommands, {option.name for option in options})
    if any(operand.name == "expression" for operand in operands) and any(entry.is_packed for entry in entries):
        # The tests of `find` are its expression, and stand behind its paths.
        packed = {flag for entry in entries if entry.is_packed for flag in entry.head.flags}
        options = [replace(option, after_operands=bool(packed & set(option.flags))) for option in options]
        operands = [operand for operand in operands if operand.name != "expression"]
    form = Form(
        summary=_summary(lines, start, end, command),
        options=tuple(options),
        operands=tuple(operands),
        subcommands=subcommands,
        style=style,
        unread=tuple(unread),
    )
    form = _with_groups(form, usage, options)
    has_something = bool(form.options or form.operands or form.subcommands)
    is_mostly_read = len(form.unread) <= max(3, len(form.options))
    is_page = bool(usage_lines) or len(entries) > 1 or len(subcommands) > 2
    return replace(form, is_confident=has_something and is_mostly_read and is_page)


# Usage


def _usage_block(lines: Sequence[str], command: Sequence[str]) -> tuple[list[str], int, int]:
    """The usage lines, each whole, and the lines between which they stand."""
    for start, line in enumerate(lines):
        found = _USAGE.match(line)
        if found and not _is_sentence(found.group("rest")):
            return _whole_lines(lines, start, found, command)
    return [], 0, 0


def _is_sentence(rest: str) -> bool:
    return bool(re.match(r"(information|is|of|and|statistics)\b", rest))


def _whole_lines(
    lines: Sequence[str], start: int, found: re.Match[str], command: Sequence[str]
) -> tuple[list[str], int, int]:
    ways: list[str] = [found.group("rest").strip()] if found.group("rest").strip() else []
    indent = len(lines[start]) - len(lines[start].lstrip())
    name = command[0].rpartition("/")[2] if command else ""
    at = start + 1
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            if ways or at > start + 2:
                break
            at += 1
            continue
        inner = len(line) - len(line.lstrip())
        if other := _OR.match(line):
            ways.append(other.group("rest").strip())
        elif (
            inner <= indent
            or (help_flags.read(line) and not line.lstrip().startswith("["))
            or not _is_usage(line, ways)
        ):
            break
        elif not ways or _begins_way(line, ways, name):
            ways.append(line.strip())
        else:
            ways[-1] = _joined(ways[-1], line.strip())
        at += 1
    return ways, start, at


def _is_usage(line: str, ways: Sequence[str]) -> bool:
    """Whether an indented line below `usage:` goes on with it, and is no sentence."""
    words = line.strip()
    if not ways or words[0] in "[(<-{|":
        return True
    return bool(re.search(r"[\[\]<>|{]|\.\.\.", words)) or words.isupper() or len(words.split()) < 4


def _begins_way(line: str, ways: Sequence[str], name: str) -> bool:
    first = line.split()[0]
    program = ways[0].split()[0] if ways and ways[0] else name
    return first in (program, name)


def _joined(before: str, after: str) -> str:
    """A line that was broken at a hyphen inside a word goes on without a space."""
    is_broken = bool(re.search(r"\w-$", before)) and bool(re.match(r"[a-z]", after))
    return f"{before}{after}" if is_broken else f"{before} {after}"


# Putting it together


def _style(text: str, command: Sequence[str]) -> Style:
    if command and conventions.base_name(command[0]) == "git":
        return "git"
    if re.search(r"^usage: ", text, re.MULTILINE) and re.search(r"show this help message and exit", text):
        return "argparse"
    if re.search(r"Show this message\s+and exit", re.sub(r"[│┃|]", " ", text)):
        return "click"
    gnu = re.search(r"^Usage: .*\[OPTION\]\.\.\.|Mandatory arguments to long options", text, re.MULTILINE)
    cobra = re.search(r"--[\w-]+ (string|strings|list|int|bytes|stringArray|duration|uint\d*|decimal)\s{2,}\S", text)
    clap = re.search(r"-h, --help\s+Print help", text)
    if gnu or cobra or clap:
        return "getopt"
    return "posix" if conventions.end_of_options(command) == "--" else "other"


class _Collected:
    """Options in the order of the page; each spelling belongs to the first that has it."""

    def __init__(self, page: str, style: Style) -> None:
        self.options: list[Option] = []
        self.unread: list[str] = []
        self._owners: dict[str, int] = {}
        self._page = page
        self._style: Style = style

    def entry(self, entry: Entry) -> None:
        """Add what an entry of a table says."""
        head = entry.head
        if _is_help(head.flags, entry.description):
            return
        flags = tuple(dict.fromkeys(flag for flag in head.flags if self._is_new(flag)))
        known = next((self._owners[flag] for flag in head.flags if flag in self._owners), None)
        if not flags:
            if known is not None:
                self.options[known] = _merged(self.options[known], head)
            return
        # `-c, --check, --check=diagnose-first`: with and without a value.
        head.is_optional = head.is_optional or len(set(head.flags)) < len(head.flags)
        if known is not None and not any(flag in head.joints for flag in flags):
            # `-p, --indicator-style=slash`: short for another option with a value; alone it is a switch.
            head = Head(list(flags), repeats=head.repeats)
        self._add(head, flags, entry.description, required=False)

    def _is_new(self, flag: str) -> bool:
        is_word = not flag.startswith("--") and len(flag) > 2
        return flag not in self._owners and flag not in _HELP and not (is_word and self._style in ("git", "click"))

    def _add(self, head: Head, flags: tuple[str, ...], description: str, *, required: bool) -> None:
        option = _option(head, flags, description, self._page)
        if option is None:
            self.unread.append(" ".join(head.flags))
            return
        self._owners.update(dict.fromkeys(flags, len(self.options)))
        self.options.append(replace(option, is_required=option.is_required or required))

    def used(self, shown: UsedOption, *, beside_table: bool) -> None:
        """Add what a usage line says of an option."""
        flag = shown.flag
        required = self._style == "argparse" and shown.is_required
        if flag in self._owners:
            option = self.options[self._owners[flag]]
            is_bare = option.value is None and not option.words and option.least is None
            if is_bare and shown.metavar and shown.is_bracketed:
                # The table shows only the letter (unzip); the usage line shows that a value follows.
                option = replace(option, value=value_of(shown.metavar, "", self._page), joint=shown.joint or " ")
            completed = replace(
                option, negative=option.negative or shown.negative, is_required=option.is_required or required
            )
            self.options[self._owners[flag]] = completed
        elif flag not in ("-h", "-V") and self._is_new(flag) and not (beside_table and _is_odd(flag)):
            self._add(_head_of(shown), (flag,), "", required=required)


def _options(
    entries: Sequence[Entry], usage: Usage, command: Sequence[str], page: str, style: Style, unread: list[str]
) -> list[Option]:
    collected = _Collected(page, style)
    for entry in entries:
        collected.entry(entry)
    for shown in usage.options:
        collected.used(shown, beside_table=bool(entries))
    unread += collected.unread
    return _named(collected.options, command)


def _is_odd(flag: str) -> bool:
    """A cluster or a joined value of a usage line (`-Olevel`, `-opts`), where a table says what there is."""
    return not flag.startswith("--") and len(flag) > 2


def _head_of(shown: UsedOption) -> Head:
    joints: dict[str, Joint] = {shown.flag: shown.joint}
    return Head([shown.flag], shown.negative, shown.metavar, shown.is_optional_value, joints, repeats=shown.repeats)


def _is_help(flags: Sequence[str], description: str) -> bool:
    if any(
        flag in ("--help", "--version", "-help", "-version") or flag.startswith(("--help=", "--help-"))
        for flag in flags
    ):
        return True
    letters = {"-h", "-?", "-H", "-V", "-v"}
    return set(flags) <= letters and bool(_ABOUT_HELP.search(description)) and bool({"-h", "-?", "-V"} & set(flags))


def _merged(option: Option, head: Head) -> Option:
    """`-save-temps` and `-save-temps=<arg>`: one option, with or without a value."""
    if (option.value is None) != (not head.metavar):
        value = option.value or value_of(head.metavar, "")
        return replace(option, value=value, is_optional_value=True)
    return option


def _option(head: Head, flags: tuple[str, ...], description: str, page: str) -> Option | None:
    name = _option_name(flags)
    if not name:
        return None
    flags, negative = _paired(flags, head.negative)
    required = bool(re.search(r"\[required\]|\(required\)", description))
    joint = head.joints.get(preferred(flags), "")
    base = Option(name, flags, negative=negative, is_required=required, description=description, joint=joint)
    if not head.metavar or head.metavar == "<bool>":
        return replace(base, is_counted=head.repeats)
    several = _words(head.metavar, page)
    if several is not None:
        words, least = several
        return replace(base, words=words) if least is None else replace(base, value=words[0], least=least)
    value = value_of(head.metavar, description, page)
    repeats = head.repeats or is_repeated_type(head.metavar) or bool(_REPEATS.search(description))
    return replace(base, value=value, is_optional_value=head.is_optional, is_repeatable=repeats, negative="")


def _paired(flags: tuple[str, ...], negative: str) -> tuple[tuple[str, ...], str]:
    """`--keep / --no-keep` on one line: the second switches the first off."""
    for flag in flags:
        if flag.startswith("--no-") and "--" + flag.removeprefix("--no-") in flags:
            return tuple(one for one in flags if one != flag), flag
    return flags, negative


def _words(metavar: str, page: str) -> tuple[tuple[Value, ...], int | None] | None:
    """Several words behind one option: exactly so many, or any number from a least one."""
    parts = re.findall(r"(?:<[^>]*>|\[[^\]]*\]|\{[^}]*\}|[^\s<\[{])+", metavar)
    if len(parts) < 2 or "RANGE" in parts or metavar.startswith("["):
        return None
    if any(part.strip("[]").endswith("...") for part in parts):
        least = sum(1 for part in parts if not part.startswith("[") and part != "...")
        return (value_of(parts[0], "", page),), least
    if any(part.startswith("[") for part in parts):
        return None
    return tuple(value_of(part, "", page) for part in parts), None


def _option_name(flags: Sequence[str]) -> str:
    long = [flag for flag in flags if flag.startswith("--")]
    positive = [flag for flag in long if not flag.startswith("--no-")] or long
    shown = max(positive, key=len) if positive else max(flags, key=len)
    name = re.sub(r"[^A-Za-z0-9]+", "_", shown.strip("-")).strip("_")
    if not name or not re.search(r"[A-Za-z0-9]", shown) or shown in _NUMBERS:
        return ""
    return name if _NAME.fullmatch(name) else f"opt_{name}"


def _named(options: Sequence[Option], command: Sequence[str]) -> list[Option]:
    """Unique names, and the reason why a dangerous option is not offered."""
    seen: set[str] = set()
    found: list[Option] = []
    program = conventions.base_name(command[0]) if command else ""
    for option in options:
        name, count = option.name, 2
        while name in seen:
            name, count = f"{option.name}_{count}", count + 1
        seen.add(name)
        metavar = option.value.metavar if option.value is not None else ""
        danger = dangers.reason(program, command[1:], option.flags, option.description, metavar)
        found.append(replace(option, name=name, danger=danger))
    return found


def _operands(
    usage: Usage, described: dict[str, str], subcommands: Sequence[Subcommand], taken: set[str]
) -> list[Operand]:
    found: list[Operand] = []
    for operand in usage.operands:
        if (
            subcommands
            and usage.has_commands
            and operand.name in ("command", "subcommand", "cmd", "arg", "args", "arguments")
        ):
            continue
        names = (operand.name, operand.name.rstrip("s"))
        said = next((described[name] for name in names if name in described), "")
        is_required = "[required]" in said
        name = operand.name
        if name in taken:
            # `grep --file FILE ... FILE...`: the option has the name already.
            name = f"{name}s" if operand.is_array and f"{name}s" not in taken else f"{name}_operand"
        least = 1 if is_required else operand.least
        found.append(replace(operand, name=name, description=_SPACES.sub(" ", said), least=least))
    return found


def _with_groups(form: Form, usage: Usage, options: Sequence[Option]) -> Form:
    """The groups of a usage line by the names of their parameters."""
    names = {flag: option.name for option in options for flag in option.flags}
    exclusive: list[tuple[str, ...]] = []
    needed: list[tuple[str, ...]] = []
    for flags, is_needed in usage.groups:
        group = tuple(dict.fromkeys(names[flag] for flag in flags if flag in names))
        if len(group) < 2 or len(group) < len(flags):
            continue
        exclusive.append(group)
        if is_needed:
            needed.append(group)
    return replace(form, exclusive=tuple(exclusive), one_required=tuple(needed))


_SENTENCE = re.compile(r"^\s{0,4}[A-Z][^:]*[a-z)\].'’]$|^\s{0,4}[A-Z].*\s[a-z].*[^:]$")


def _summary(lines: Sequence[str], start: int, end: int, command: Sequence[str]) -> str:
    """The first paragraph that is neither usage nor a table: behind the usage lines, or else before them."""
    for at, line in enumerate(lines[:12]):
        # A manual page begins with its name and what it is for.
        if line.strip() == "NAME" and at + 1 < len(lines):
            return re.sub(r"^.*?\s[-–—]+\s+", "", lines[at + 1].strip())[:400]
    for paragraph in (*_paragraphs(lines[end : end + 25]), *_paragraphs(lines[:start])):
        words = " ".join(line.strip() for line in paragraph)
        first = paragraph[0]
        if help_flags.read(first) or _HEADING.match(first) or not re.search(r"[a-z]{3,} \S", words):
            continue
        if any(re.match(r"\s+\S+\s{2,}\S", line) for line in paragraph):
            continue
        if (
            re.match(r"\s*(For more|See |Try |Report )", first)
            or len(first) - len(first.lstrip()) > 4
            or re.match(r"\S+\s{2,}\S", first.strip())
        ):
            continue
        name = command[-1] if command else ""
        return re.sub(rf"^{re.escape(name)}\s+[-–—]\s+", "", _SPACES.sub(" ", words))[:400]
    return ""


def _paragraphs(lines: Sequence[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [paragraph for paragraph in found if paragraph]
