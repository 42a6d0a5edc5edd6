"""Hints from words alone: of functions whose code cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from autotool.introspect import effects
from autotool.model import Hints


def is_evidenced(hints: Hints, hint: str) -> bool:
    return any(one.hint == hint for one in hints.evidence)


def by_words(name: str, summary: str = "", parameters: tuple[str, ...] = (), returns: Any = None) -> Hints:
    """The hints of a function of which only words are known, such as one written in C."""
    return effects.infer(
        name=name, module="acme", summary=summary, parameters=parameters, returns=returns, function=object()
    )


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("get_user", "Return the user."),
        ("list_orders", "List all open orders."),
        ("countRows", "Count the rows of a table."),
        ("is_valid", "True if it is valid."),
        ("find_best", "Finds the best."),
        ("parse_header", "Parse a header."),
    ],
)
def test_a_reading_name_and_a_reading_docstring_are_evidence(name: str, summary: str) -> None:
    assert by_words(name, summary).read_only is True


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("get_user", ""),
        ("get_or_create", "Get the user, or create it."),
        ("get_or_create", "Return the user."),
        ("find_and_replace", "Find and replace."),
        ("get_user", "Create a session and return the user."),
        ("list_append", "Return the list."),
        ("read_and_clear", "Read the register."),
        ("issue_refund", "Return the money."),
        ("listen", "Return when somebody calls."),
        ("get_next_ticket", "Return the next ticket."),
        ("process", "Return the result."),
        ("update_user", "Update the user."),
        ("", ""),
    ],
)
def test_words_in_doubt_are_no_evidence_of_reading(name: str, summary: str) -> None:
    assert by_words(name, summary).read_only is False


def test_one_who_only_reads_asks_for_no_changes() -> None:
    assert by_words("get_user", "Return the user.", ("payload",)).read_only is False


@pytest.mark.parametrize(
    ("name", "summary", "evidenced"),
    [
        ("delete_user", "", True),
        ("userDelete", "", True),
        ("bulk_delete", "Bulk work.", True),
        ("send_email", "", True),
        ("pay", "", True),
        ("billing_refund", "", True),
        ("drop_table", "Drop a table.", True),
        ("overwrite", "", True),
        ("nuke_it", "Deletes everything.", True),
        ("cleanup", "Remove old backups.", True),
        ("removeprefix", "Remove a prefix from a text.", False),
        ("remove_duplicates", "", False),
        ("drop_na", "", False),
        ("strip_all", "Remove leading zeros.", False),
        ("can_delete", "", False),
        ("on_delete", "", False),
        ("is_deleted", "", False),
        ("undelete", "", False),
        ("count_removed", "", False),
        ("post", "Sends a POST request.", False),
        ("save", "Save it.", False),
        ("update_user", "Update the user.", False),
        ("droplet", "", False),
        ("sender", "", False),
        ("payload", "", False),
    ],
)
def test_destroying_words_are_evidence_and_like_sounding_ones_are_not(name: str, summary: str, evidenced: bool) -> None:
    hints = by_words(name, summary)
    assert hints.destructive is True
    assert is_evidenced(hints, "destructive") is evidenced


def test_a_docstring_that_removes_from_a_text_it_returns_is_no_evidence() -> None:
    assert not is_evidenced(by_words("simplify", "Remove the odd parts.", returns=str), "destructive")
