"""LongMemEval's files → a data set: every question with its own history, a conversation of the user and an assistant.

Evidence has two units: the turns that are marked `has_answer`, and the sessions that `answer_session_ids` names.
"""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from builder.bench.data.conversion import Conversion, message, question, read_json
from builder.domain.errors import Misconfigured

ABSTENTION = "_abs"
"""Ends the id of a question that the history does not answer."""
SPEAKERS = {"user": "User", "assistant": "Assistant"}
TURN_MINUTES = 1
"""Between two turns: a session has a date, its turns have none."""
SOURCE = "take longmemeval_s.json of xiaowu0162/LongMemEval"
_DATE = re.compile(r"(\d{4}/\d\d?/\d\d?)(?: \(\w+\))?(?: (\d\d?:\d\d))?")
"""`2023/05/20 (Sat) 02:21`; the day of the week says nothing new."""


def convert(file: Path, indices: tuple[int, ...] = ()) -> Conversion:
    """indices: of questions, from 0; none = all. Raises `Misconfigured` when the file is not LongMemEval's."""
    items = read_json(file)
    if not isinstance(items, list):
        raise Misconfigured(f"{file} is no list of questions; {SOURCE}")
    absent = sorted(set(indices) - set(range(len(items))))
    if absent:
        raise Misconfigured(f"{file} has no question {absent[0]}; it has 0 to {len(items) - 1}")
    omissions = Counter[str]()
    try:
        histories = [_conversation(items[index], omissions) for index in indices or range(len(items))]
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Misconfigured(f"{file} is not LongMemEval's: {error!r}; {SOURCE}") from error
    chosen = f"[{','.join(map(str, indices))}]" if indices else ""
    return Conversion(name=f"{file.stem}{chosen}", conversations=[each for each in histories if each], omissions=omissions)


def _conversation(item: dict[str, Any], omissions: Counter[str]) -> dict[str, Any] | None:
    """None, and counted, where nothing can be asked of it."""
    name = item["question_id"]
    if name.endswith(ABSTENTION):
        omissions[f"questions of abstention ({ABSTENTION}), which the history does not answer"] += 1
        return None
    evidence: list[str] = []
    unread = Counter[str]()
    messages = list(_messages(item, evidence, unread))
    if not evidence:
        omissions["questions of which no turn is marked has_answer"] += 1
        return None
    omissions.update(unread)
    sessions = [each for each in dict.fromkeys(item["answer_session_ids"]) if each in {one["session"] for one in messages}]
    if absent := len(set(item["answer_session_ids"])) - len(sessions):
        omissions["ids of answer_session_ids that no session has"] += absent
    own = question(name, item["question"], item.get("answer"), evidence, item["question_type"])
    own["evidence_sessions"] = sessions
    asked_at = _text(_moment(item["question_date"]))
    if asked_at > messages[-1]["created_at"]:
        own["asked_at"] = asked_at
    else:
        omissions["dates of questions that are before the last turn"] += 1
    return {"session_id": name, "messages": messages, "questions": [own]}


def _messages(item: dict[str, Any], evidence: list[str], unread: Counter[str]) -> Iterator[dict[str, Any]]:
    """Turns by the date of their session: the file of evidence alone is not sorted. A session may be there twice."""
    ids = Counter[str]()
    sessions = zip(item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"], strict=True)
    for session, date, turns in sorted(sessions, key=lambda each: _moment(each[1])):
        ids[session] += 1
        prefix = session if ids[session] == 1 else f"{session}-{ids[session]}"
        for number, turn in enumerate(turns):
            text = str(turn["content"] or "")
            if turn["role"] not in SPEAKERS or not text.strip():
                unread["turns without a text, or of neither user nor assistant"] += 1
                continue
            identity = f"{prefix}_{number + 1}"
            if turn.get("has_answer"):
                evidence.append(identity)
            moment = _text(_moment(date) + timedelta(minutes=number * TURN_MINUTES))
            yield {**message(identity, turn["role"], SPEAKERS[turn["role"]], text, moment), "session": session}


def _moment(text: str) -> datetime:
    match = _DATE.fullmatch(text.strip())
    if not match:
        raise Misconfigured(f'a date is {text!r}; write it as "2023/05/20 (Sat) 02:21"')
    return datetime.strptime(f"{match[1]} {match[2] or '00:00'}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
