"""Public files become data sets: hand-made files of the same shape, with what the real ones have wrong."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from builder.bench.data import beam, locomo, longmemeval
from builder.bench.data.datasets import load
from builder.bench.quality.recall import outcome_of, summary
from builder.domain.errors import Misconfigured

SAMPLES = Path(__file__).with_name("samples")
LOCOMO, BEAM = SAMPLES / "locomo10.json", SAMPLES / "BEAM" / "chats" / "100K"
LONGMEMEVAL = SAMPLES / "longmemeval_s.json"


def test_a_turn_of_locomo_has_its_speaker_its_picture_and_a_minute_of_its_own() -> None:
    conversation = locomo.convert(LOCOMO).data["conversations"][0]
    assert conversation["session_id"] == "conv-1"
    turns = [
        ("D1:1", "Ada", "I adopted a cat, her name is Pixel.", "2023-03-03T09:05:00Z"),
        ("D1:2", "Ben", "How sweet! Look at mine.  [shares a photo of a dog on a sofa]", "2023-03-03T09:06:00Z"),
        ("D1:3", "Ada", " [shares a photo of a grey cat]", "2023-03-03T09:07:00Z"),
    ]
    assert conversation["messages"][:3] == [
        {"id": identity, "role": "user", "speaker": speaker, "text": text, "created_at": moment}
        for identity, speaker, text, moment in turns
    ]
    assert [each["created_at"] for each in conversation["messages"][3:5]] == ["2023-03-10T00:30:00Z", "2023-03-10T00:31:00Z"]


def test_questions_of_locomo_keep_their_position_and_the_evidence_that_there_is() -> None:
    questions = locomo.convert(LOCOMO, (0,)).data["conversations"][0]["questions"]
    assert [(each["id"], each["category"], each["answer"], each["evidence"]) for each in questions] == [
        ("conv-1-q0", "single-hop", "Pixel", ["D1:1"]),
        ("conv-1-q1", "temporal", "2023", ["D2:1"]),
        ("conv-1-q2", "multi-hop", "a cat and a dog", ["D1:1", "D1:2"]),
        ("conv-1-q3", "open-domain", "", ["D2:3"]),
    ]


def test_what_locomo_has_beyond_the_data_set_is_counted() -> None:
    assert locomo.convert(LOCOMO, (0,)).account == {
        "name": "locomo[0]",
        "conversations": 1,
        "messages": 6,
        "questions": 4,
        "omissions": {
            "ids in evidence that no turn has": 2,
            "questions of category 5, which the conversation does not answer": 1,
            "questions whose evidence names no turn": 2,
            "turns without a text": 1,
        },
    }


def test_a_session_of_locomo_without_a_date_is_named(tmp_path: Path) -> None:
    file = tmp_path / "locomo10.json"
    file.write_text(LOCOMO.read_text("utf-8").replace("4:15 pm on 1 May, 2023", "one day in May"), "utf-8")
    with pytest.raises(Misconfigured, match="session_1_date_time of conv-2 is 'one day in May'"):
        locomo.convert(file)


@pytest.mark.parametrize(("content", "indices"), [("{}", ()), ("[{}]", ()), ("[1]", ()), ("no JSON", ()), ("[]", (0,))])
def test_a_file_that_is_not_locomo_s_is_refused(tmp_path: Path, content: str, indices: tuple[int, ...]) -> None:
    file = tmp_path / "other.json"
    file.write_text(content, "utf-8")
    with pytest.raises(Misconfigured, match="other\\.json"):
        locomo.convert(file, indices)


def test_messages_of_beam_have_no_marks_and_the_day_of_their_part() -> None:
    conversation = beam.convert(BEAM).data["conversations"][0]
    assert conversation["session_id"] == "beam-1"
    assert [(each["id"], each["speaker"], each["created_at"]) for each in conversation["messages"]] == [
        ("0", "User", "2024-04-02T09:01:00Z"),
        ("1", "Assistant", "2024-04-02T09:02:00Z"),
        ("2", "User", "2024-04-02T09:03:00Z"),
        ("3", "Assistant", "2024-04-02T09:04:00Z"),
        ("4", "User", "2024-05-20T09:01:00Z"),
        ("5", "Assistant", "2024-05-20T09:02:00Z"),
    ]
    assert conversation["messages"][0]["text"] == "I plan a garden with 12 beds, where do I begin?"


def test_questions_of_beam_have_the_ids_of_both_statements_and_abstention_is_counted() -> None:
    conversion = beam.convert(BEAM, (1,))
    assert [(each["id"], each["answer"], each["evidence"]) for each in conversion.data["conversations"][0]["questions"]] == [
        ("beam-1-contradiction_resolution-0", "", ["2"]),
        ("beam-1-knowledge_update-0", "14", ["0", "4"]),
    ]
    assert conversion.account["name"] == "beam-100k[1]"
    assert conversion.account["omissions"] == {
        "ids in evidence that no message has": 1,
        "messages without a text, or of neither user nor assistant": 1,
        "questions of abstention, which the chat does not answer": 1,
        "questions whose evidence names no message": 1,
    }


@pytest.mark.parametrize("is_list", [True, False])
def test_rows_of_beam_are_the_same_chat(tmp_path: Path, is_list: bool) -> None:
    """The hub has parts as bare lists and the questions as the text of a Python literal."""
    folder = BEAM / "1"
    parts = [part["turns"] for part in json.loads((folder / "chat.json").read_text("utf-8"))]
    questions = json.loads((folder / "probing_questions" / "probing_questions.json").read_text("utf-8"))
    row = {"conversation_id": "1", "chat": parts, "probing_questions": repr(questions), "narratives": ""}
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps([row], indent=1) if is_list else f"{json.dumps(row)}\n", "utf-8")
    assert beam.convert(file).conversations == beam.convert(folder / "chat.json").conversations


def test_an_id_that_two_messages_of_beam_have_is_no_evidence(tmp_path: Path) -> None:
    shutil.copytree(BEAM, tmp_path / "100K")
    file = tmp_path / "100K" / "1" / "chat.json"
    file.write_text(file.read_text("utf-8").replace('"id": 5', '"id": 4'), "utf-8")
    conversion = beam.convert(tmp_path / "100K")
    assert [each["id"] for each in conversion.conversations[0]["messages"]][-2:] == ["4", "4-2"]
    assert [each["id"] for each in conversion.conversations[0]["questions"]] == ["beam-1-contradiction_resolution-0"]
    assert conversion.omissions["questions whose evidence names an id that several messages have"] == 1


@pytest.mark.parametrize("content", ["{}", "[1]", "no JSON", '{"conversation_id": "1", "chat": [], "probing_questions": "{"}'])
def test_a_file_that_is_not_beam_s_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(content, "utf-8")
    with pytest.raises(Misconfigured, match=r"other\.json|time_anchor"):
        beam.convert(file)


def test_a_chat_that_beam_does_not_have_is_named() -> None:
    with pytest.raises(Misconfigured, match="has no chat 7; it has 1"):
        beam.convert(BEAM, (7,))


def test_a_folder_without_chats_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="has no chats; take chats/100K"):
        beam.convert(tmp_path)


def test_turns_of_longmemeval_stand_in_the_order_of_their_sessions_and_name_them() -> None:
    """The sample has two questions that the history answers, sessions out of order, and a session that is there twice."""
    first, second = longmemeval.convert(LONGMEMEVAL).conversations
    assert [(each["id"], each["session"], each["created_at"]) for each in first["messages"]] == [
        ("answer_own1_1_1", "answer_own1_1", "2024-03-02T09:05:00Z"),
        ("answer_own1_1_2", "answer_own1_1", "2024-03-02T09:06:00Z"),
        ("filler_bread_1", "filler_bread", "2024-03-11T19:40:00Z"),
        ("filler_bread_2", "filler_bread", "2024-03-11T19:41:00Z"),
        ("answer_own1_2_1", "answer_own1_2", "2024-03-21T08:15:00Z"),
        ("answer_own1_2_2", "answer_own1_2", "2024-03-21T08:16:00Z"),
    ]
    assert [each["id"] for each in second["messages"]][::2] == ["filler_tides_1", "answer_own3_1_1", "filler_tides-2_1"]


def test_questions_of_longmemeval_have_evidence_by_turn_and_by_session() -> None:
    first, second = (each["questions"][0] for each in longmemeval.convert(LONGMEMEVAL).conversations)
    assert (first["evidence"], first["evidence_sessions"]) == (
        ["answer_own1_1_1", "answer_own1_2_1"],
        ["answer_own1_1", "answer_own1_2"],
    )
    assert (first["category"], first["asked_at"]) == ("knowledge-update", "2024-03-30T18:00:00Z")
    assert (second["answer"], second["evidence"], "asked_at" in second) == ("7", ["answer_own3_1_2"], False)


def test_what_longmemeval_has_beyond_the_data_set_is_counted() -> None:
    assert longmemeval.convert(LONGMEMEVAL).account == {
        "name": "longmemeval_s",
        "conversations": 2,
        "messages": 12,
        "questions": 2,
        "omissions": {
            "dates of questions that are before the last turn": 1,
            "ids of answer_session_ids that no session has": 1,
            "questions of abstention (_abs), which the history does not answer": 1,
            "turns without a text, or of neither user nor assistant": 2,
        },
    }
    assert longmemeval.convert(LONGMEMEVAL, (1, 2)).account["name"] == "longmemeval_s[1,2]"


def test_a_question_of_longmemeval_without_a_marked_turn_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "longmemeval_s.json"
    file.write_text(LONGMEMEVAL.read_text("utf-8").replace(', "has_answer": true', ""), "utf-8")
    conversion = longmemeval.convert(file, (0,))
    assert (conversion.conversations, conversion.omissions) == ([], {"questions of which no turn is marked has_answer": 1})


@pytest.mark.parametrize(("content", "indices"), [("{}", ()), ("[{}]", ()), ("[1]", ()), ("no JSON", ()), ("[]", (0,))])
def test_a_file_that_is_not_longmemeval_s_is_refused(tmp_path: Path, content: str, indices: tuple[int, ...]) -> None:
    file = tmp_path / "other.json"
    file.write_text(content, "utf-8")
    with pytest.raises(Misconfigured, match="other\\.json"):
        longmemeval.convert(file, indices)


def test_a_date_that_longmemeval_does_not_write_is_named(tmp_path: Path) -> None:
    file = tmp_path / "longmemeval_s.json"
    file.write_text(LONGMEMEVAL.read_text("utf-8").replace("2024/03/11 (Mon) 19:40", "a Monday in March"), "utf-8")
    with pytest.raises(Misconfigured, match="a date is 'a Monday in March'; write it as"):
        longmemeval.convert(file)


def test_recall_counts_turns_and_sessions_side_by_side(tmp_path: Path) -> None:
    file = tmp_path / "histories.json"
    file.write_text(json.dumps(longmemeval.convert(LONGMEMEVAL).data), "utf-8")
    first, second = load(str(file)).conversations
    assert [each.trigger.created_at.isoformat() for each in (*first.questions, *second.questions)] == [
        "2024-03-30T18:00:00+00:00",
        "2024-02-05T07:32:00+00:00",
    ]
    page = "The potter moved our class: it begins at six in the evening from now on."
    beside = "What do you want to make first? What do I put on the oars of my skiff?"
    outcomes = [outcome_of(each, each.questions[0], f"{page} {beside}", 40) for each in (first, second)]
    assert [(each.share, each.session_share) for each in outcomes] == [(0.5, 1.0), (0.0, 1.0)]
    assert summary(outcomes) == {
        "evidence_any": 0.5, "evidence_all": 0.0, "evidence_mean": 0.25,
        "evidence_sessions_any": 1.0, "evidence_sessions_all": 1.0, "evidence_sessions_mean": 1.0,
    }  # fmt: skip
    assert "evidence_sessions_any" not in summary([replace(each, session_share=None) for each in outcomes])


def test_a_message_that_two_sessions_have_finds_neither(tmp_path: Path) -> None:
    file = tmp_path / "histories.json"
    data = longmemeval.convert(LONGMEMEVAL).data
    data["conversations"][0]["messages"][2]["text"] = "Once more: What do you want to make first?"
    file.write_text(json.dumps(data), "utf-8")
    conversation = load(str(file)).conversations[0]
    assert outcome_of(conversation, conversation.questions[0], "What do you want to make first?", 8).session_share == 0.0


def test_a_converted_file_is_a_data_set(tmp_path: Path) -> None:
    conversions = {
        "people": locomo.convert(LOCOMO),
        "assistant": beam.convert(BEAM),
        "histories": longmemeval.convert(LONGMEMEVAL),
    }
    for name, conversion in conversions.items():
        file = tmp_path / name
        file.write_text(json.dumps(conversion.data), "utf-8")
        dataset = load(str(file))
        assert (dataset.messages, dataset.question_count) == (conversion.account["messages"], conversion.account["questions"])
