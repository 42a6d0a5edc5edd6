"""What is said of single tools, of command lines and of programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any, Literal

from autotool.config.policies import Approval, EnvSource, Errors
from autotool.config.quantities import Between, Duration, Size, section
from autotool.model import OutputRules


@section
class IconSection:
    """One of `icons`: a picture for people."""

    src: Annotated[str, "Where it is: an https address, or the picture itself (`data:`)."]
    mime_type: Annotated[str, "What it is: `image/png`."] = ""
    sizes: Annotated[tuple[str, ...], "The sizes that it suits: `48x48`, or `any`."] = ()
    theme: Annotated[Literal["", "light", "dark"], "The background that it suits."] = ""


@section
class StatedSection:
    """What is said of a tool in the place of what its code says, and what bounds it."""

    title: Annotated[str | None, "Short name for people."] = None
    description: Annotated[str | None, "What it does, for the model."] = None
    tags: Annotated[tuple[str, ...], "Words by which `allow` and `deny` can name it: `tag:billing`."] = ()
    icons: Annotated[tuple[IconSection, ...], "Pictures for people."] = ()
    read_only: Annotated[bool | None, "It changes nothing."] = None
    destructive: Annotated[bool | None, "It may destroy something."] = None
    idempotent: Annotated[bool | None, "Calling it twice is like calling it once."] = None
    open_world: Annotated[bool | None, "It reaches beyond this machine."] = None
    timeout: Annotated[Duration | None, "Time limit of a call."] = None
    max_output: Annotated[Size | None, "Most bytes of text in a result."] = None
    rate_limit: Annotated[str | None, "Calls of it by one caller; empty: no limit."] = None
    concurrency: Annotated[Annotated[int, Between(1, 4096)] | None, "Calls of it that run at the same time."] = None
    approval: Annotated[Approval | None, "Whose consent a call needs."] = None
    sanitize: Annotated[bool | None, "Remove escape sequences and hidden characters from its results."] = None
    redact: Annotated[bool | None, "Mask secrets in its results."] = None
    errors: Annotated[Errors | None, "Whether callers read what its exceptions say."] = None
    untrusted: Annotated[bool | None, "Mark its results as written by others."] = None
    fence: Annotated[bool | None, "Put its text between two lines that say where it begins and ends."] = None


def output_rules(stated: StatedSection) -> OutputRules:
    """What a section says of the way out."""
    mask = None if stated.errors is None else stated.errors == "masked"
    return OutputRules(stated.sanitize, stated.redact, mask, stated.untrusted, stated.fence)


@section
class OverrideSection:
    """`[tool.NAME] params.NAME`: one parameter, in the place of what the code says of it."""

    description: Annotated[str | None, "What it means, for the model."] = None
    hidden: Annotated[bool, "It is not offered; the code's own default holds."] = False
    fixed: Annotated[Any, "The value that is filled in; it is not offered."] = None
    default: Annotated[Any, "The value when it is left out."] = None
    minimum: Annotated[float | None, "The least number."] = None
    maximum: Annotated[float | None, "The greatest number."] = None
    min_length: Annotated[int | None, "The fewest characters."] = None
    max_length: Annotated[int | None, "The most characters."] = None
    pattern: Annotated[str | None, "A regular expression that every text must match."] = None
    choices: Annotated[tuple[Any, ...], "The only values."] = ()
    min_items: Annotated[int | None, "The fewest items of an array."] = None
    max_items: Annotated[int | None, "The most items of an array."] = None
    header: Annotated[str, "The HTTP header that mirrors it: `Region` for `Mcp-Param-Region`."] = ""
    force: Annotated[bool, "Mirror it even though its name looks secret."] = False


@section
class ToolSection(StatedSection):
    """`[tool.NAME]`: one tool, under the name that it has without the config."""

    name: Annotated[str | None, "The name under which it is served."] = None
    params: Annotated[Mapping[str, OverrideSection], "Single parameters, by name."] = field(
        default_factory=dict[str, OverrideSection]
    )


Scalar = str | int | float | bool

Word = str | tuple[str | tuple[str | tuple[str, ...], ...], ...]
"""One word of a command line, or a group of words that is left out when a parameter in it is."""


@section
class ParameterSection:
    """`[command.NAME] params.NAME`: one parameter of a command."""

    type: Annotated[
        Literal["string", "integer", "number", "boolean", "enum", "path", "array", "date"], "What a value is."
    ] = "string"
    description: Annotated[str, "What it means, for the model."] = ""
    default: Annotated[Scalar | tuple[Scalar, ...] | None, "The value when it is left out."] = None
    optional: Annotated[bool, "It may be left out, and its words with it."] = False
    minimum: Annotated[float | None, "The least number."] = None
    maximum: Annotated[float | None, "The greatest number."] = None
    min_length: Annotated[int | None, "The fewest characters."] = None
    max_length: Annotated[int | None, "The most characters."] = None
    pattern: Annotated[str | None, "A regular expression that every text must match."] = None
    choices: Annotated[tuple[str | int, ...], "The only values, of an enum or of an array's items."] = ()
    items: Annotated[Literal["string", "integer", "number", "path", "date"], "What an array's items are."] = "string"
    min_items: Annotated[int | None, "The fewest items of an array."] = None
    max_items: Annotated[int | None, "The most items of an array."] = None
    must_exist: Annotated[bool, "A path must exist."] = False
    within: Annotated[str, "The folder that a path must be in, symbolic links followed."] = ""
    flag: Annotated[str, "The word that stands for true (boolean), or is repeated (integer)."] = ""
    off_flag: Annotated[str, "The word that stands for false."] = ""
    bare: Annotated[str, "The word that stands alone when `true` is sent in the place of a value (--color[=WHEN])."] = (
        ""
    )
    dash: Annotated[bool, "A value may begin with a dash where an option could stand."] = False


@section
class RunSection(StatedSection):
    """How a program is run: what `[command.NAME]` and `[program.NAME]` have in common."""

    cwd: Annotated[str, "Working directory. Default: where autotool was started."] = ""
    env: Annotated[Mapping[str, str | EnvSource], "Variables for the program."] = field(
        default_factory=dict[str, str | EnvSource]
    )
    pass_env: Annotated[tuple[str, ...], "Variables of the server's environment that the program gets too."] = ()
    success_codes: Annotated[
        tuple[int, ...] | None, "Exit codes that are answers. Default: 0; grep, diff…: 0 and 1."
    ] = None
    output: Annotated[Literal["text", "json", "lines", "csv"], "How standard output is read."] = "text"
    output_schema: Annotated[Mapping[str, Any] | None, "JSON Schema of what was read from standard output."] = None
    stderr: Annotated[Literal["on_failure", "always", "never"], "When standard error is shown."] = "on_failure"
    end_of_options: Annotated[str | None, "The word that ends options: `--`; empty: the program knows none."] = None
    allow_dangerous: Annotated[tuple[str, ...], "Options that run programs or write files, and are wanted."] = ()
    pin_program: Annotated[bool, "Refuse to run the program when its file has changed since the start."] = True


@section
class CommandSection(RunSection):
    """`[command.NAME]`: a command line as a tool."""

    run: Annotated[str | tuple[Word, ...], "The words, with {placeholders}; one text when `shell` is true."] = ()
    shell: Annotated[bool, "Have `sh -c` read `run`; values then come in variables only."] = False
    params: Annotated[Mapping[str, ParameterSection], "The parameters, by name."] = field(
        default_factory=dict[str, ParameterSection]
    )
    stdin: Annotated[str, "What standard input holds: `{text}`. Default: nothing."] = ""
    exclusive: Annotated[tuple[tuple[str, ...], ...], "Parameters of which at most one may be given."] = ()
    one_required: Annotated[tuple[tuple[str, ...], ...], "Parameters of which one must be given."] = ()


@section
class ProgramSection(RunSection):
    """`[program.NAME]`: a program that is read by its own help."""

    run: Annotated[tuple[str, ...], "The program, with the words that always stand first."] = ()
    commands: Annotated[tuple[str, ...], "Globs over subcommands; empty: all."] = ()
    depth: Annotated[int, Between(0, 4), "How deep subcommands are read; 0: the program itself."] = 1
    only: Annotated[tuple[str, ...], "Options that are offered; empty: all that are safe."] = ()
    without: Annotated[tuple[str, ...], "Options that are not offered."] = ()
    budget: Annotated[Size, "Most bytes of a tool's schema."] = 4000
    help_file: Annotated[str, "A file with the help text; the program is then not asked."] = ""
