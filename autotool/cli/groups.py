"""The commands that have commands of their own: what somebody does who runs a server."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

approvals = typer.Typer(
    help='Decide the calls that wait for an operator (approval = "operator").',
    no_args_is_help=True,
    rich_markup_mode=None,
)

Socket = Annotated[
    str | None,
    typer.Option(
        "--socket", metavar="PATH", help="A server's socket. Default: those of all your servers.", show_default=False
    ),
]
CallId = Annotated[str, typer.Argument(metavar="ID", help="An id that `list` shows, or its beginning.")]


@approvals.command("list", epilog="Example: autotool approvals list")
def approvals_list(path: Socket = None, as_json: AsJson = False) -> None:
    """Show the calls that wait."""
    from autotool.cli import approvals as command

    command.list_pending(path, as_json=as_json)


@approvals.command("show", epilog="Example: autotool approvals show 1a2b")
def approvals_show(call_id: CallId, path: Socket = None) -> None:
    """Show one call whole: the tool and every argument."""
    from autotool.cli import approvals as command

    command.show(path, call_id)


@approvals.command("approve", epilog="Example: autotool approvals approve 1a2b")
def approvals_approve(call_id: CallId, path: Socket = None) -> None:
    """Let a call run."""
    from autotool.cli import approvals as command

    command.decide(path, call_id, approve=True)


@approvals.command("deny", epilog="Example: autotool approvals deny 1a2b")
def approvals_deny(call_id: CallId, path: Socket = None) -> None:
    """Refuse a call."""
    from autotool.cli import approvals as command

    command.decide(path, call_id, approve=False)


token = typer.Typer(help="Make, list and revoke bearer tokens.", no_args_is_help=True, rich_markup_mode=None)

TokenPath = Annotated[str, typer.Option("--file", metavar="FILE", help="The file of tokens.")]
TokenName = Annotated[str, typer.Argument(metavar="NAME", help="Whose token it is.")]


@token.command("new", epilog="Example: autotool token new ci --scope billing --expires 90d")
def token_new(
    name: TokenName,
    scopes: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="SCOPE", help="A scope of it; may be repeated.", show_default=False),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="A date, or a duration such as 90d. Default: never.", show_default=False),
    ] = None,
    file: TokenPath = "tokens.toml",
) -> None:
    """Make a token and print it, once; the file keeps a digest of it."""
    from autotool.cli import tokens as command

    command.new(name, file, scopes or [], expires)


@token.command("list", epilog="Example: autotool token list")
def token_list(file: TokenPath = "tokens.toml") -> None:
    """Show whose tokens there are, their scopes and until when they hold."""
    from autotool.cli import tokens as command

    command.list_(file)


@token.command("revoke", epilog="Example: autotool token revoke ci")
def token_revoke(name: TokenName, file: TokenPath = "tokens.toml") -> None:
    """Remove a token; a running server refuses it within a second."""
    from autotool.cli import tokens as command

    command.revoke(name, file)


config = typer.Typer(help="Look at the settings.", no_args_is_help=True, rich_markup_mode=None)


@config.command("schema", epilog="Example: autotool config schema > autotool.schema.json")
def config_schema() -> None:
    """Print the JSON Schema of autotool.toml, for editors."""
    from autotool.cli import schema as command

    command.run()


@config.callback()
def config_main() -> None:
    """Look at the settings."""
