"""The command line. Each command is imported when it runs, so that `serve` starts without the tables of `list`."""

from __future__ import annotations

from typing import Annotated

import typer

from autotool import __version__
from autotool.cli.groups import AsJson, approvals, token
from autotool.cli.groups import config as config_group

app = typer.Typer(
    name="autotool",
    help="Serve the Python functions and commands you have as tools of the Model Context Protocol.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TARGET...",
        help="pkg.mod, pkg.mod:name, pkg.mod:make(), ./file.py or ./file.py:name.",
        show_default=False,
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="GLOB", help="Only functions whose name fits.", show_default=False),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="GLOB", help="Not functions whose name fits.", show_default=False),
]
Recursive = Annotated[bool, typer.Option("--recursive", help="Also a package's submodules.")]
Command = Annotated[
    list[str] | None,
    typer.Option("--command", metavar="'WORDS'", help="A program, read by its own --help.", show_default=False),
]
Budget = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Most bytes of a program's schema. Default: 4kB.", show_default=False),
]
ToolWords = Annotated[
    list[str],
    typer.Argument(
        metavar="[TARGET] TOOL", help="A target, as for serve, and a name that `list` shows.", show_default=False
    ),
]
ConfigPath = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Settings. Default: the nearest autotool.toml.", show_default=False),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks and more of the log.")]
ReadOnly = Annotated[bool, typer.Option("--read-only", help="Only tools that are known to change nothing.")]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"autotool {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Serve the Python functions and commands you have as tools of the Model Context Protocol."""


@app.command(epilog="Example: autotool serve statistics textwrap")
def serve(
    targets: Targets = None,
    stdio: Annotated[bool, typer.Option("--stdio", help="Speak on standard input and output.")] = False,
    http: Annotated[bool, typer.Option("--http", help="Listen for HTTP.")] = False,
    host: Annotated[str | None, typer.Option(help="Address for HTTP. Default: 127.0.0.1.", show_default=False)] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port for HTTP. Default: 8000; 0: a free one.", show_default=False),
    ] = None,
    uds: Annotated[str | None, typer.Option(metavar="PATH", help="Unix socket for HTTP.", show_default=False)] = None,
    no_auth: Annotated[
        bool, typer.Option("--no-auth", help="Take calls from other machines without asking who they are.")
    ] = False,
    include: Include = None,
    exclude: Exclude = None,
    recursive: Recursive = False,
    read_only: ReadOnly = False,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time limit of a call. Default: 60s.", show_default=False)
    ] = None,
    inline: Annotated[
        bool, typer.Option("--inline", help="Run the tools in the server's own process, for debugging.")
    ] = False,
    reload: Annotated[
        bool, typer.Option("--reload", help="Read the tools again when a file of theirs changes.")
    ] = False,
    locked: Annotated[bool, typer.Option("--locked", help="Serve only what autotool.lock pins.")] = False,
    commands: Command = None,
    budget: Budget = None,
    config: ConfigPath = None,
    debug: Debug = False,
) -> None:
    """Serve functions and commands: on stdio when standard input is not a terminal, else over HTTP."""
    from autotool.cli import serve as command
    from autotool.cli.plans import Flags, plan_for

    flags = Flags(
        targets or [],
        include,
        exclude,
        recursive,
        config,
        debug,
        inline,
        timeout,
        host,
        port,
        uds,
        commands,
        budget,
        no_auth,
        read_only,
        reload,
        locked,
    )
    command.run(lambda: plan_for(flags), stdio=stdio, http=http)


@app.command("list", epilog="Example: autotool list json urllib.parse")
def list_(
    targets: Targets = None,
    include: Include = None,
    exclude: Exclude = None,
    recursive: Recursive = False,
    read_only: ReadOnly = False,
    as_json: AsJson = False,
    commands: Command = None,
    budget: Budget = None,
    config: ConfigPath = None,
    debug: Debug = False,
) -> None:
    """Show the tools that would be served, and what is left out and why."""
    from autotool.cli import listing
    from autotool.cli.plans import Flags, plan_for

    flags = Flags(
        targets or [],
        include,
        exclude,
        recursive,
        config,
        debug,
        commands=commands,
        budget=budget,
        read_only=read_only,
    )
    listing.run(plan_for(flags), as_json=as_json)


@app.command(epilog="Example: autotool show statistics quantiles")
def show(
    words: ToolWords,
    as_json: AsJson = False,
    commands: Command = None,
    budget: Budget = None,
    config: ConfigPath = None,
    debug: Debug = False,
) -> None:
    """Show one tool whole: its schema, where each type came from, its hints and the evidence for them."""
    from autotool.cli import showing
    from autotool.cli.plans import Flags, asked_for, plan_for

    targets, tool, _ = asked_for(words)
    plan = plan_for(Flags(targets, config=config, debug=debug, commands=commands, budget=budget))
    showing.run(plan, tool, as_json=as_json)


@app.command(epilog="Example: autotool call statistics mean 'data=[1, 2, 3, 4]'")
def call(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[TARGET] TOOL [NAME=VALUE]...",
            help="A target, as for serve; a name that `list` shows; arguments.",
            show_default=False,
        ),
    ],
    json_args: Annotated[
        str | None,
        typer.Option(
            "--json-args",
            metavar="JSON",
            help="Arguments as one JSON object; - reads it from standard input.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    timeout: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time limit. Default: 60s.", show_default=False)
    ] = None,
    commands: Command = None,
    budget: Budget = None,
    config: ConfigPath = None,
    debug: Debug = False,
) -> None:
    """Run one tool, checked and shaped as a client would see it. Exit 1 when it fails."""
    from autotool.cli import calling
    from autotool.cli.plans import Flags, asked_for, plan_for

    targets, tool, values = asked_for(words)
    flags = Flags(targets, config=config, debug=debug, timeout=timeout, commands=commands, budget=budget)
    calling.run(plan_for(flags), tool, values, json_args, as_json=as_json)


LockFile = Annotated[
    str | None,
    typer.Option("--file", metavar="FILE", help="The lock file. Default: autotool.lock.", show_default=False),
]


@app.command(epilog="Example: autotool lock")
def lock(
    targets: Targets = None,
    include: Include = None,
    exclude: Exclude = None,
    recursive: Recursive = False,
    read_only: ReadOnly = False,
    file: LockFile = None,
    commands: Command = None,
    budget: Budget = None,
    config: ConfigPath = None,
    debug: Debug = False,
) -> None:
    """Pin the definitions of the tools that would be served, for a locked server and `verify`."""
    from autotool.cli import locking
    from autotool.cli.plans import Flags, plan_for

    flags = Flags(
        targets or [], include, exclude, recursive, config, debug, commands=commands, budget=budget, read_only=read_only
    )
    locking.write(plan_for(flags), file)


@app.command(epilog="Example: autotool verify")
def verify(
    targets: Targets = None,
    include: Include = None,
    exclude: Exclude = None,
    recursive: Recursive = False,
    read_only: ReadOnly = False,
    file: LockFile = None,
    commands: Command = None,
    budget: Budget = None,
    config: ConfigPath = None,
    debug: Debug = False,
) -> None:
    """Show what differs from the pinned definitions. Exit 1 when something does."""
    from autotool.cli import locking
    from autotool.cli.plans import Flags, plan_for

    flags = Flags(
        targets or [], include, exclude, recursive, config, debug, commands=commands, budget=budget, read_only=read_only
    )
    locking.verify(plan_for(flags), file)


@app.command(epilog="Example: autotool init --command 'git log'")
def init(
    commands: Annotated[
        list[str],
        typer.Option("--command", metavar="'WORDS'", help="A program, read by its own --help.", show_default=False),
    ],
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="The file to write to; - prints.")
    ] = "autotool.toml",
    budget: Budget = None,
    debug: Debug = False,
) -> None:
    """Write a program's commands into autotool.toml, for a person to prune and pin."""
    from autotool.cli import drafting
    from autotool.cli.plans import Flags

    drafting.run(Flags([], commands=commands, budget=budget, debug=debug), file)


for group, name in ((approvals, "approvals"), (token, "token"), (config_group, "config")):
    app.add_typer(group, name=name)
