"""What of a conversation is read, and in which order."""

from datetime import datetime
from typing import Any

import pytest

from builder.chat_files.history import Entry, chat_role, key_of, last_branch, without_repeats


def entry(text: str, role: str = "user", *, at: str = "", group: int = 0, **fields: Any) -> Entry:
    value = {"role": role, "content": text, **fields}
    time = datetime.fromisoformat(f"2026-05-04T{at}Z") if at else None
    kind = chat_role(value)
    return Entry(1, value, time, str(fields.get("id", "")), role=kind, group=group, key=key_of(value, kind))


def texts(entries: list[Entry]) -> str:
    return " ".join(each.value["content"] for each in entries)


def chat(text: str, group: int = 0) -> list[Entry]:
    """Words in capitals are the assistant's."""
    return [entry(word, "assistant" if word.isupper() else "user", group=group) for word in text.split()]


@pytest.mark.parametrize(
    ("before", "after", "read"),
    [
        ("a B", "a B c", "a B c"),
        ("a B c", "a B", "a B c"),
        ("a B c D", "c D e", "a B c D e"),
        ("a B c D", "D e", "a B c D e"),
        ("a B c", "a X y", "a B c X y"),
        ("yes B yes C", "yes D", "yes B yes C D"),
        ("a B", "c D", "a B c D"),
    ],
)
def test_of_a_list_of_messages_the_part_that_the_conversation_has_is_not_read_again(before: str, after: str, read: str) -> None:
    assert texts(without_repeats([*chat(before, 1), *chat(after, 2)])) == read


@pytest.mark.parametrize(
    ("lines", "read"),
    [
        ("a B a B", "a B"),
        ("a B a B c", "a B c"),
        ("a B c a B d", "a B c a B d"),
        ("a a", "a"),
        ("a B a", "a B a"),
        ("yes B yes", "yes B yes"),
    ],
)
def test_of_single_lines_a_copy_of_the_dialogue_and_a_message_right_after_itself_are_read_once(lines: str, read: str) -> None:
    assert texts(without_repeats(chat(lines))) == read


def test_the_same_words_at_another_time_are_another_message() -> None:
    assert texts(without_repeats([entry("yes", at="10:00:00"), entry("yes", at="10:00:09"), entry("yes")])) == "yes yes"


def test_a_result_that_comes_twice_is_read_once_also_among_others() -> None:
    results = [
        entry("31 cm", "tool", tool_call_id="c1"),
        entry("4 kg", "tool", tool_call_id="c2"),
        entry("31 cm", "tool", tool_call_id="c1"),
    ]
    assert texts(without_repeats(results)) == "31 cm 4 kg"


def test_records_are_never_repeats() -> None:
    records = [Entry(line, {"content": "x"}, is_chat=False) for line in (1, 2, 3, 4)]
    assert without_repeats(records) == records


def item(**fields: Any) -> Entry:
    role = chat_role(fields)
    return Entry(1, fields, role=role, key=key_of(fields, role))


DIFFERENT = {
    "two people": [entry("Me!", name="Ann"), entry("Me!", name="Bo")],
    "two searches": [item(type="web_search_call", id=f"w{n}", action={"query": f"falcon {n}"}) for n in (1, 2)],
    "two thoughts": [item(type="reasoning", summary=[{"type": "summary_text", "text": text}]) for text in ("Clay.", "Glaze.")],
    "two programs": [item(type="code_interpreter_call", id=f"p{n}", code=f"print({n})", outputs=[]) for n in (1, 2)],
    "two tools": [entry("ok", "tool", name="w"), entry("ok", "tool", name="v")],
    "two results without an id": [entry("ok", "tool", name="w"), entry("ok", "tool", name="w")],
    "two pictures": [entry("", images=["iVBORw0KGgo1"]), entry("", images=["iVBORw0KGgo2"])],
}
CALL = {"id": "c1", "type": "function", "function": {"name": "w", "arguments": '{"c": 1}'}}
SPACED = {"id": "c1", "index": 0, "type": "function", "function": {"name": "w", "arguments": '{"c":1}'}}
THINKING = [{"type": "thinking", "thinking": "Hm.", "signature": "x"}, {"type": "text", "text": "It rains."}]
SAME: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a call in other JSON": ({"content": None, "tool_calls": [CALL]}, {"content": "", "tool_calls": [SPACED]}),
    "a thought that a client drops": ({"content": THINKING}, {"content": "It rains."}),
    "a result as text and as part": (
        {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "90"}]},
        {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "90"}]}]},
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_messages_that_differ_stand_both(name: str) -> None:
    assert without_repeats(DIFFERENT[name]) == DIFFERENT[name]


@pytest.mark.parametrize("name", SAME)
def test_a_message_is_known_by_what_it_says_and_calls_and_not_by_its_form(name: str) -> None:
    one, other = (key_of({"role": "assistant", **fields}, "assistant") for fields in SAME[name])
    assert one == other != b""


def test_a_history_that_is_sent_again_under_another_prompt_is_read_once() -> None:
    lists = [[entry(f"today is {day}", "system", group=day), *chat("a B c D e", day)[: 2 * day - 1]] for day in (1, 2, 3)]
    assert texts(without_repeats([each for messages in lists for each in messages])) == "today is 1 a B c D e"


def test_what_is_said_three_times_is_a_habit_and_thousands_of_pairs_are_read() -> None:
    assert texts(without_repeats(chat("SALT yes SALT yes SALT yes why"))) == "SALT yes SALT yes SALT yes why"
    assert len(without_repeats(chat("ping PONG " * 3_000))) == 6_000
    assert texts(without_repeats(chat("a B c D " * 3))) == "a B c D", "a whole dialogue that was pasted three times"


def test_answers_of_two_people_to_one_message_are_no_branches() -> None:
    thread = [
        entry("WHERE?", "assistant", id="1"),
        entry("pizza", id="2", parentId="1", name="Bo"),
        entry("sushi", id="3", parentId="1", name="Cy"),
    ]
    assert last_branch(thread) == thread


TREE = [
    entry("plan", id="r"),
    entry("SEA", "assistant", id="b1", parentId="r"),
    entry("book", id="b1u", parentId="b1"),
    entry("HILLS", "assistant", id="b2", parentId="r"),
    entry("go", id="b2u", parentId="b2"),
]


def test_a_file_with_parents_is_read_along_its_last_branch() -> None:
    assert texts(last_branch(TREE)) == "plan HILLS go"


def test_results_of_calls_of_the_branch_stay() -> None:
    results = [entry(f"r{number}", "tool", id=f"t{number}", parentId="b2") for number in (1, 2)]
    assert texts(last_branch([*TREE[:4], *results, TREE[4]])) == "plan HILLS r1 r2 go"


def test_a_new_topic_in_the_same_file_leaves_none_before_it() -> None:
    topics = [entry(text, id=text[0], parentId=None) for text in ("wood for a bench", "the last tram")]
    answers = [entry(text, "assistant", id=text[:2], parentId=text[0]) for text in ("w larch", "t 0:40")]
    lines = [topics[0], answers[0], topics[1], answers[1], entry("how thick", id="h", parentId=answers[1].identity)]
    assert last_branch(lines) == lines


def test_a_talk_is_not_left_for_a_question_in_the_same_words() -> None:
    first = [entry("weather in Paris", id="1", parentId=None), entry("DRY", "assistant", id="2", parentId="1")]
    went_on = [entry("tomorrow?", id="3", parentId="2"), entry("WET", "assistant", id="4", parentId="3")]
    lines = [*first, *went_on, entry("weather in Rome", id="5", parentId=None), entry("HOT", "assistant", id="6", parentId="5")]
    assert last_branch(lines) == lines


def test_an_edited_question_leaves_the_first_one() -> None:
    lines = [
        entry("HI", "assistant", id="0"),
        entry("first", id="1", parentId="0"),
        entry("FIRST", "assistant", id="2", parentId="1"),
    ]
    edited = [entry("second", id="3", parentId="0"), entry("SECOND", "assistant", id="4", parentId="3")]
    assert texts(last_branch([*lines, *edited])) == "HI second SECOND"


def test_threads_are_no_branches() -> None:
    replies = [entry("ANSWER", "assistant", id="1", parentId="0"), entry("thanks", id="2", parentId="0")]
    people = [entry("one", id="1", parentId="0"), entry("two", id="2", parentId="0")]
    for lines in ([entry("topic", id="0"), *replies], [entry("topic", id="0"), *people]):
        assert last_branch(lines) == lines
