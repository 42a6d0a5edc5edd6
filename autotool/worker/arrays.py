"""numpy, pandas and polars values, recognised by name so that nothing is imported for their sake."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

TEXT_ROWS = 50
STRUCTURED_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Table:
    """A data frame: `text` is a compact table that says the full shape, `records` its first rows.

    Attributes:
        total: how many rows there are in all.
    """

    text: str
    records: list[Any]
    total: int


def home_of(value: Any) -> str:
    """The library that a value's class belongs to."""
    return str(type(value).__module__).partition(".")[0]


def table_of(value: Any) -> Table | None:
    """A data frame as a table; None for everything else."""
    home, name = home_of(value), type(value).__name__
    if home == "pandas" and name == "DataFrame":
        return _pandas_table(value)
    if home == "polars" and name in ("DataFrame", "LazyFrame"):
        return _polars_table(value.head(STRUCTURED_ROWS + 1).collect() if name == "LazyFrame" else value)
    return None


def _pandas_table(frame: Any) -> Table:
    rows, columns = frame.shape
    shown = frame.to_string(max_rows=TEXT_ROWS, max_cols=30, max_colwidth=60)
    return Table(f"{rows} rows × {columns} columns\n{shown}", _pandas_records(frame.head(STRUCTURED_ROWS)), rows)


def _pandas_records(frame: Any) -> list[Any]:
    if type(frame.index).__name__ != "RangeIndex":
        frame = frame.reset_index(allow_duplicates=True)
    frame = frame.set_axis(_unique([_column(column) for column in frame.columns]), axis=1)
    return json.loads(frame.to_json(orient="records", date_format="iso", default_handler=str))


def _column(column: Any) -> str:
    return ".".join(str(part) for part in column) if isinstance(column, tuple) else str(column)


def _unique(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return result


def _polars_table(frame: Any) -> Table:
    rows, columns = frame.shape
    records = json.loads(frame.head(STRUCTURED_ROWS).write_json())
    return Table(f"{rows} rows × {columns} columns\n{frame.head(TEXT_ROWS).write_csv()}", records, rows)


def plain(value: Any) -> tuple[bool, Any]:
    """A numpy or pandas value as Python data: (whether it is one, the data)."""
    home, name = home_of(value), type(value).__name__
    if home == "numpy":
        return (True, value.tolist()) if hasattr(value, "tolist") and name not in ("dtype",) else (False, None)
    if home == "pandas":
        return _plain_pandas(value, name)
    if home == "polars" and name == "Series":
        return True, value.to_list()
    return False, None


def _plain_pandas(value: Any, name: str) -> tuple[bool, Any]:
    if name in ("NAType", "NaTType"):
        return True, None
    if name in ("Timestamp", "Timedelta", "Period"):
        return True, value.isoformat() if hasattr(value, "isoformat") else str(value)
    if name == "Interval":
        return True, str(value)
    if name == "Series":
        index = value.index
        if type(index).__name__ == "RangeIndex" or not index.is_unique:
            return True, value.tolist()
        return True, dict(zip(index.tolist(), value.tolist(), strict=True))
    table = table_of(value)
    if table is not None:
        return True, table.records
    return (True, value.tolist()) if hasattr(value, "tolist") else (False, None)
