"""Public files become data sets: hand-made files of the same shape, with what the real ones have wrong."""

import json
import shutil
from pathlib import Path

import pytest

from builder.bench.data import beam, locomo
from builder.bench.data.datasets import load
from builder.domain.errors import Misconfigured

SAMPLES = Path(__file__).with_name("samples")
LOCOMO, BEAM = SAMPLES / "locomo10.json", SAMPLES / "BEAM" / "chats" / "100K"


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


def test_a_converted_file_is_a_data_set(tmp_path: Path) -> None:
    for name, conversion in (("people", locomo.convert(LOCOMO)), ("assistant", beam.convert(BEAM))):
        file = tmp_path / name
        file.write_text(json.dumps(conversion.data), "utf-8")
        dataset = load(str(file))
        assert (dataset.messages, dataset.question_count) == (conversion.account["messages"], conversion.account["questions"])
