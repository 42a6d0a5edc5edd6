"""How much of real help texts is read, and how much of what is read is right: `python -m benchmarks.helps`.

The expectations under tests/commands/help/expected were written down by reading the texts. An option counts as read when one with the
same spellings is found; as right when its spellings, and what follows it (nothing, a value, perhaps a value), are as written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotool.commands.form import Form, Option
from autotool.commands.help_page import parse

FOLDER = Path(__file__).parent.parent / "tests" / "commands" / "help"


@dataclass(frozen=True)
class Score:
    """What was expected, found and right on one page."""

    page: str
    expected: int
    found: int
    right: int
    operands_right: bool
    wrong: tuple[str, ...]

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0


def scores() -> list[Score]:
    return [score(path) for path in sorted((FOLDER / "expected").glob("*.json"))]


def score(path: Path) -> Score:
    expected = json.loads(path.read_text(encoding="utf-8"))
    form = parse((FOLDER / f"{path.stem}.txt").read_text(encoding="utf-8"), expected["command"])
    wanted = {tuple(option["flags"]): facts_wanted(option) for option in expected["options"]}
    found = {option.flags: facts_found(option) for option in form.options}
    wrong = [f"missed {' '.join(flags)}" for flags in wanted if flags not in found]
    wrong += [f"made up {' '.join(flags)}" for flags in found if flags not in wanted]
    wrong += [f"misread {' '.join(flags)}" for flags, facts in found.items() if wanted.get(flags, facts) != facts]
    right = sum(wanted.get(flags) == facts for flags, facts in found.items())
    operands = [(one["name"], one["least"], one["most"]) for one in expected["operands"]]
    return Score(path.stem, len(wanted), len(found), right, operands == operands_found(form, operands), tuple(wrong))


def facts_wanted(option: dict[str, Any]) -> tuple[Any, ...]:
    return (option["value"], option.get("negative", ""), option.get("words", 0), option.get("least"))


def facts_found(option: Option) -> tuple[Any, ...]:
    takes = option.value is not None or bool(option.words)
    kind = "none" if not takes else "optional" if option.is_optional_value else "required"
    return (kind, option.negative, len(option.words), option.least)


def operands_found(form: Form, wanted: list[tuple[str, int, int | None]]) -> list[tuple[str, int, int | None]]:
    """The operands under the names of the usage line: one whose name an option has is renamed in the form."""
    names = {name for name, _, _ in wanted}
    found = []
    for operand in form.operands:
        plain = operand.name.removesuffix("_operand")
        name = next((one for one in (operand.name, plain, plain.removesuffix("s")) if one in names), operand.name)
        found.append((name, operand.least, operand.most))
    if any(option.after_operands for option in form.options):
        found.append(("expression", 0, 1))
    return found


def main() -> None:
    print(f"{'page':20} {'expected':>8} {'found':>6} {'right':>6} {'recall':>7} {'precision':>9}  operands")
    every = scores()
    for one in every:
        operands = "right" if one.operands_right else "wrong"
        print(
            f"{one.page:20} {one.expected:8} {one.found:6} {one.right:6} {one.recall:7.1%} {one.precision:9.1%}  {operands}"
            + (f"  {'; '.join(one.wrong[:4])}" if one.wrong else "")
        )
    expected, found, right = (sum(getattr(one, name) for one in every) for name in ("expected", "found", "right"))
    whole = sum(one.operands_right for one in every)
    print(
        f"{'all':20} {expected:8} {found:6} {right:6} {right / expected:7.1%} {right / found:9.1%}  {whole}/{len(every)} right"
    )


if __name__ == "__main__":
    main()
