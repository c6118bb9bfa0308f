"""An item of a page as it must show a record: whole, in part with a mark, or as a line of ours."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from builder.bench.invariants.events import Entry, Events
from builder.bench.invariants.random_texts import AGENT_IDS, AGENTS, CONTROL, PEOPLE
from builder.bench.invariants.records import RESULTS, TOOLS, Record, agent_of, call_of, calls_of, text_of
from builder.language.names import whole_look

State = Literal["whole", "cut", "part", "line"]
"""part: passages of it."""
CUT = re.compile(r"\[… [\d,]+ characters left out(?:, id (?P<id>\S+))? …\]")
LINE = re.compile(r"\[[^\n]*id (?P<id>\S+)\]")
FENCED = re.compile(r"\n\n(?P<marks>`{3,})\n(?P<text>.*)\n(?P=marks)\Z", re.DOTALL)
"""A text whose shape Markdown would lose."""
SHOWN_OF = re.compile(r"\((?P<shown>[\d,]+) of (?P<all>[\d,]+) results shown.*; fetch (?P<id>\S+) for all")
PART = re.compile(r"^(?=Result:|Failed\b|\[[^\n]*id \S+\]$|\((?:no answer yet|no longer available)\)$)", re.MULTILINE)
IMAGE = "\n[image kiln.png, image/png, 8 bytes: hot]"
ROLES = {"user.message.v1": "User", "agent.response.v1": "Assistant"}
BLANK = " \t\n"
EDGE = 8
"""Signs by which two parts of a cut may overlap: fences that it closes and opens."""


@dataclass(frozen=True, slots=True)
class Display:
    """The parts of an entry that an item shows."""

    entry: Entry
    states: tuple[tuple[int, State], ...]
    """Row and state of the words or the call, and of each result below it."""

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it is missing."""
        return len(self.states) > len(self.entry.results) and all(state == "whole" for _, state in self.states)


def visible(text: str) -> str:
    """The text as a page shows it."""
    for control, replacement in CONTROL.items():
        text = text.replace(control, replacement)
    return re.sub("\r\n?|[\u2028\u2029]", "\n", text).rstrip(BLANK)


def words_of(record: Record) -> str:
    """The words of a message, with a line for its image."""
    return visible(text_of(record) + (IMAGE if record["context"].get("attachments") else "")) or "(empty message)"


def labels_of(record: Record, trigger: Record) -> re.Pattern[str]:
    """The names that may stand in front of what it says."""
    default, name = ROLES[record["schema_name"]], record["context"].get("speaker", "")
    name = name or agent_of(record)
    people = record["context"].get("user_id"), trigger["context"].get("user_id")
    other = people[0] != people[1] if all(people) else record["session"] != trigger["session"]
    if (
        default == "User"
        and other
        and whole_look(name) in map(whole_look, ("", "User", trigger["context"].get("speaker", "User")))
    ):
        label = r"Another user \d+"
    else:
        label = re.escape((name or default) if name in {"", *PEOPLE, *AGENTS, *AGENT_IDS, default} else f'{default} "{name}"')
    return re.compile(label + (r" \(edited\)" if record["version"] > 1 else ""))


def display_of(entry: Entry, text: str, events: Events, trigger: Record) -> Display | None:
    """The parts of an entry that an item's text shows; None when it is not of this entry, or says something else."""
    record = events.records[entry.row]
    if not entry.request and record["schema_name"] not in TOOLS:
        state = message_state(record, text, trigger)
        return Display(entry, ((entry.row, state),)) if state else None
    if record["schema_name"] in RESULTS:
        label = re.match(r"Tool \w+ (?:answered|(?P<failed>failed))(?=:| \()", text)
        below = ("Failed" if label["failed"] else "Result") + text[label.end() :] if label else text
        state = result_state(record, below)
        return Display(entry, ((entry.row, state),)) if state else None
    return _called(entry, text, events)


def message_state(record: Record, text: str, trigger: Record) -> State | None:
    """How much of a message the text shows; None when it is of another."""
    label = labels_of(record, trigger).match(text)
    if not label:
        return None
    words, rest = words_of(record), text[label.end() :]
    forms = (f": {words}", f":\n\n{words}")
    if rest in forms:
        return "whole"
    return "cut" if any(is_part(rest, form, record["id"]) for form in forms) else None


def is_part(text: str, whole: str, identity: str) -> bool:
    """Whether a text with marks has the beginning, the end and passages of the whole, and the first mark names it."""
    marks = list(CUT.finditer(text))
    if not marks or marks[0]["id"] != identity:
        return False
    pieces, bare, at = [_bare(piece) for piece in CUT.sub("\0", text).split("\0")], _bare(whole), 0
    for number, piece in enumerate(pieces):
        at = len(bare) - len(piece) if number == len(pieces) - 1 else bare.find(piece, at) if number else 0
        if not bare.startswith(piece, at) or at < 0:
            return False
        at = max(at + len(piece) - EDGE, 0)
    return True


def _bare(text: str) -> str:
    """Without white space, and without the fences that a cut closes and opens again."""
    return re.sub(r"\s+|`{3}\w*|~{3}", "", text)


def _called(entry: Entry, text: str, events: Events) -> Display | None:
    head, *parts = PART.split(text)
    state = call_state(events.records[entry.row], entry.request, head, caller_of(events.records[entry.row], events))
    if state is None:
        return None
    if not entry.results:
        line = "(no longer available)" if entry.lacks_results else "(no answer yet)"
        is_told = not entry.request or [part.strip() for part in parts] == [line]
        return Display(entry, ((entry.row, state),)) if is_told or state == "cut" else None
    if len(parts) != len(entry.results):
        return None
    states = [result_state(events.records[row], part.rstrip()) for row, part in zip(entry.results, parts, strict=True)]
    rows = tuple((row, state) for row, state in zip(entry.results, states, strict=True) if state)
    return Display(entry, ((entry.row, state), *rows)) if len(rows) == len(parts) else None


def caller_of(record: Record, events: Events) -> str:
    """Who calls, where another agent has a part in the conversation; else ""."""
    if not calls_of(record)[1] or (not events.has_others and events.is_own(record)):
        return ""
    return str(record["context"].get("speaker") or agent_of(record) or "Assistant")


def call_state(record: Record, request: str, text: str, caller: str) -> State | None:
    """How much of a call stands in the lines above its results. caller: another agent's name; "" = nobody else can call."""
    call = call_of(record, request)
    by = f" by {caller}" if caller else ""
    if not re.match(rf"Call {call['tool']}{re.escape(by)}(?=:|\n|$)", text):
        return None
    if (mark := CUT.search(text)) and mark["id"] == record["id"]:
        return "cut"
    return "whole" if holds_leaves(text, call.get("input")) else None


def result_state(record: Record, text: str) -> State | None:
    """How much of a result stands in the lines of one; None when they are another's, or something is missing without a word."""
    if _names(LINE.fullmatch(text.removeprefix("Result: ")), record):
        return "line"
    label, value = _label_and_value(record)
    if not text.startswith(f"{label}:"):
        return None
    rest = text.removeprefix(f"{label}:")
    if _names(CUT.search(rest), record) or _names(SHOWN_OF.search(rest), record):
        return "cut"
    if isinstance(value, str):
        inner = FENCED.sub(r"\n\n\g<text>", rest)
        return "whole" if inner in {f"{gap}{visible(value)}" for gap in (" ", "\n", "\n\n")} else None
    return "whole" if holds_leaves(rest, value) else None


def _names(mark: re.Match[str] | None, record: Record) -> bool:
    """Whether a mark of ours names the record."""
    return mark is not None and mark["id"] == record["id"]


def _label_and_value(record: Record) -> tuple[str, Any]:
    if record["schema_name"] == "tool.error.v1":
        return "Failed", record["context"]["error_message"]
    return "Result", record["context"]["output"]


def holds_leaves(text: str, value: Any) -> bool:
    """Whether every key and every plain value stands in the text, each as often as it is there."""
    rest = re.sub(r"\s+", " ", text)
    return all(re.sub(r"\s+", " ", leaf) in rest for leaf in set(leaves(value)))


def leaves(value: Any) -> Iterator[str]:
    """Keys and plain values."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield visible(key)
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield visible(value if isinstance(value, str) else json.dumps(value)).strip()
