"""The words of contents of any vendor, and of JSON of any tool."""

from typing import Any

import pytest

from builder.wire.items import unread_lines
from builder.wire.words import MAX_THOUGHT_CHARS, brief, content_words, described, text_of

RUN = "QUFBQUJCQkJDQ0ND0123456789abcdefXYZ" * 12


def text(words: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **fields}


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([text("The kiln is "), text("in the yard", citations=[{"title": "Yard"}]), text(", number K-"), text("4711")],
         "The kiln is in the yard, number K-4711"),
        ([text("The gl"), text("aze is tin-"), text("white.")], "The glaze is tin-white."),
        (["The code is K-", "4711."], "The code is K-4711."),
        ([{"text": "The code is K-"}, {"text": "4711."}], "The code is K-4711."),
        ([text("It is hot"), {"type": "output_text", "text": "."}], "It is hot."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_answer", [True, False])
def test_pieces_of_one_sentence_are_one_sentence_whoever_says_it(parts: list[Any], words: str, is_answer: bool) -> None:
    assert content_words(parts, is_answer=is_answer) == words


@pytest.mark.parametrize("is_answer", [True, False])
@pytest.mark.parametrize(
    "texts",
    [
        ("Summarise this", "the kiln log"),
        ("First.", "Second."),
        ("Look at", "/etc/kiln.conf"),
        ("Ask", "@maya"),
        ("We use C#", "and Java"),
        ("In src/", "then stop"),
        ("The glaze is dry", "…and hot"),
        ("Ready\n", "the log", "the bowl"),
    ],
)
def test_whole_texts_stand_apart_whoever_says_them(texts: tuple[str, ...], is_answer: bool) -> None:
    words = content_words([text(each) for each in texts], is_answer=is_answer)
    assert words.split("\n") == [each.strip() for each in texts]


def test_texts_without_a_type_are_pieces_of_a_stream_in_an_answer_alone() -> None:
    for pieces in ([{"text": "Sum"}, {"text": "marise"}], ["Sum", "marise"], [text("Sum"), text("marise it "), text("now")]):
        assert content_words(pieces, is_answer=True).startswith("Summarise")
    assert content_words([{"text": "Context: "}, {"text": "the log"}, {"text": "the bowl"}], is_answer=False).endswith(
        "log\nthe bowl"
    )


def test_words_around_an_image_or_a_call_are_lines_of_their_own() -> None:
    image = {"type": "image_url", "image_url": {"url": "https://img.example/mug.png"}}
    assert (
        content_words([text("Before"), image, text("after")], is_answer=True)
        == "Before\n[image https://img.example/mug.png]\nafter"
    )


def test_a_step_is_named_only_where_nothing_else_is_said() -> None:
    assert content_words([{"type": "step-start"}], is_answer=True) == "[step-start]"
    assert content_words([{"type": "step-start"}, text("Done.")], is_answer=True) == "Done."


def test_a_thought_is_marked_and_a_long_one_says_how_much_is_in_the_body() -> None:
    assert content_words([{"type": "thinking", "thinking": "Dry."}, text("31 cm")], is_answer=True) == "[thought] Dry.\n31 cm"
    long = content_words([{"type": "thinking", "thinking": "x" * (MAX_THOUGHT_CHARS + 5)}], is_answer=True)
    assert long.endswith("x… [5 more characters of this thought are in its body]")


@pytest.mark.parametrize(
    "value",
    [
        {"format": "csv", "data": "time,what\n03:12,zone 4 failed"},
        {"type": "document", "source": "handbook.pdf", "page": 7, "text": "zone 4 failed"},
        {"type": "file", "file": "src/kiln.py", "matches": ["zone 4 failed"]},
        {"type": "video", "video": "https://v.example/1", "summary": "zone 4 failed"},
        {"name": "mail 7", "content_type": "text/plain", "bytes": "zone 4 failed"},
        {"mimeType": "text/plain", "data": "zone 4 failed"},
    ],
)
def test_a_text_beside_the_fields_of_a_file_is_a_text(value: dict[str, Any]) -> None:
    assert described(value) == value


@pytest.mark.parametrize(
    "value",
    [
        {"type": "resource", "resource": {"uri": "file:///l", "mimeType": "text/plain", "text": "zone 4 failed"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "zone 4 failed"}},
        {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "zone 4 failed"}]}},
        {"type": "audio", "audio": {"id": "a1", "transcript": "zone 4 failed"}},
        [{"type": "output_text", "text": "zone 4 failed", "annotations": []}],
        {"scan": {"media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUg==", "ocr": "zone 4 failed"}},
    ],
)
def test_the_words_of_a_part_in_a_result_are_there(value: Any) -> None:
    assert "zone 4 failed" in text_of(value)
    assert "iVBOR" not in text_of(value)


def test_a_link_to_a_resource_is_one_line_and_what_only_its_vendor_reads_is_none() -> None:
    link = {"type": "resource_link", "uri": "file:///p", "name": "plan.md", "description": "weekly firing plan"}
    assert described([link]) == "[resource plan.md, file:///p: weekly firing plan]"
    assert described({"type": "found", "title": "Celadon", "encrypted_content": "gAAAAB"}) == {
        "type": "found",
        "title": "Celadon",
    }


def test_an_image_as_bare_base64_is_an_image() -> None:
    assert (
        text_of({"type": "image", "image": "iVBORw0KGgoAAAANSUhEUg==", "mediaType": "image/png"})
        == "[image, image/png, 16 bytes]"
    )


def test_a_long_run_is_shortened_in_brief_only() -> None:
    assert described({"key": RUN}) == {"key": RUN}
    assert brief({"key": RUN}) == {"key": "[encoded data, 315 bytes]"}


def test_what_no_reader_knows_is_named_by_a_line() -> None:
    body = {"content": [text("Look:"), {"type": "hologram"}], "message": None}
    assert unread_lines(body) == ("[hologram, 20 bytes that are not read]",)


OWN_FIELDS: dict[str, list[dict[str, Any]]] = {
    "the source of a passage": [{"type": "text", "text": "Bisque at cone 04", "source": "handbook.pdf", "title": "Firing"}],
    "the state of a row": [{"type": "text", "text": "row one", "status": "deleted", "id": "77"}],
    "the state of a lease": [{"type": "document", "title": "Lease", "source": "https://a.example/lease.pdf", "state": "expired"}],
    "what a picture shows": [{"type": "image", "url": "https://a.example/rim.png", "annotations": ["crack at the rim"]}],
}


@pytest.mark.parametrize("name", OWN_FIELDS)
def test_a_field_that_a_vendor_does_not_have_is_a_word_of_the_tool(name: str) -> None:
    text = text_of(OWN_FIELDS[name])
    fields = [value for part in OWN_FIELDS[name] for key, value in part.items() if key not in {"type", "url", "source"}]
    words = [word for value in fields for word in (value if isinstance(value, list) else [value])]
    assert [word for word in words if word not in text] == []


def test_the_source_of_a_passage_stands_with_it() -> None:
    assert "handbook.pdf" in text_of(OWN_FIELDS["the source of a passage"])


def test_ids_and_states_inside_data_are_words_and_so_is_an_object_of_nothing_else() -> None:
    parts = [
        {"type": "data-order", "data": {"id": "K-4711", "status": "shipped"}},
        {"type": "order", "id": "K-9", "status": "paid"},
    ]
    words = content_words(parts, is_answer=True)
    assert [word for word in ("K-4711", "shipped", "K-9", "paid") if word not in words] == []


def test_a_fence_that_ends_a_block_ends_its_line() -> None:
    blocks = [{"type": "text", "text": "```py\nx\n```"}, {"type": "text", "text": "then run it"}]
    assert content_words(blocks, is_answer=True) == "```py\nx\n```\nthen run it"
