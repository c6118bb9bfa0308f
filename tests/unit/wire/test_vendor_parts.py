"""The table of kinds says what the reader does, and the docs show it."""

import os
from pathlib import Path

import pytest

from builder.wire.parts import STYLES
from builder.wire.vendor_parts import KEY_READERS, READERS, read_part
from tests.vendor_kinds import BECOMES, VENDOR_KINDS, Kind, table

DOCS = Path(__file__).resolve().parents[3] / "builder" / "docs" / "messages.md"
START, END = "<!-- kinds: UPDATE_DOCS=1 writes it, tests/unit/wire/test_vendor_parts.py -->\n", "<!-- end of kinds -->"


@pytest.mark.parametrize("kind", VENDOR_KINDS, ids=lambda kind: f"{kind.vendor} {kind.name}")
def test_each_kind_is_read_as_the_table_says(kind: Kind) -> None:
    assert tuple(type(part).__name__ for part in read_part(kind.example)) == kind.parts


def test_a_part_that_nobody_knows_is_a_line_with_its_size() -> None:
    (part,) = read_part({"type": "hologram", "status": "done"})
    assert part.line == "[hologram, 38 bytes that are not read]"  # type: ignore[union-attr]
    assert type(part).__name__ in BECOMES


def test_the_table_has_every_key_of_a_part_without_a_type() -> None:
    aliases = {
        "content",
        "parts",
        "function_call",
        "function_response",
        "executable_code",
        "code_execution_result",
        "function",
        "custom",
        "refusal",
    }
    assert KEY_READERS.keys() - aliases <= {kind.name for kind in VENDOR_KINDS}


def test_the_table_has_every_type_but_other_spellings() -> None:
    aliases = {
        "summary_text", "reasoning_text", "redacted-reasoning", "thought", "server_tool_call", "tool-error", "server_tool_result",
        "tool_response", "output_audio", "citation", "step-finish", "cache_point", "cachePoint", "cache-point", "cache",
        "finish-step", "start-step",
    }  # fmt: skip
    assert READERS.keys() - aliases - (STYLES - {"bold"}) <= {kind.name for kind in VENDOR_KINDS}


def test_the_docs_show_the_table() -> None:
    text = DOCS.read_text("utf-8")
    head, rest = text.split(START)
    expected = f"{head}{START}\n{table()}\n\n{END}{rest.split(END)[1]}"
    if os.environ.get("UPDATE_DOCS"):
        DOCS.write_text(expected, "utf-8")
    assert DOCS.read_text("utf-8") == expected
