"""What is an image or a file, and what only has the fields of one."""

from typing import Any

import pytest

from builder.wire.attachments import attachment_line, attachment_of, without_bytes, without_data_urls, without_runs

PNG = "iVBORw0KGgoAAAANSUhEUg=="


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"type": "image", "image": PNG, "mediaType": "image/png"}, "[image, image/png, 16 bytes]"),
        ({"image": {"format": "png", "source": {"bytes": PNG}}}, "[image, png, 16 bytes]"),
        (
            {"fileData": {"mimeType": "video/mp4", "fileUri": "https://f.example/a.mp4"}},
            "[video https://f.example/a.mp4, video/mp4]",
        ),
        ({"type": "document", "source": {"type": "url", "url": "https://f.example/a.pdf"}}, "[document https://f.example/a.pdf]"),
        ({"type": "input_file", "file_id": "file-7"}, "[file file-7]"),
        ({"type": "file", "data": PNG, "filename": "a.bin", "title": "Scan 7"}, "[file a.bin, 16 bytes: Scan 7]"),
    ],
)
def test_encoded_bytes_or_a_bare_reference_are_a_file(value: dict[str, Any], line: str) -> None:
    file = attachment_of(value)
    assert file is not None
    assert (file.line, file.is_whole) == (line, True)


@pytest.mark.parametrize(
    "value",
    [
        {"data": "zone 4 failed", "format": "short"},
        {"type": "file", "file": "src/kiln.py", "matches": ["zone 4"]},
        {"type": "document", "source": "handbook.pdf", "text": "zone 4"},
        {"content_type": "text/plain", "bytes": "done"},
        {"type": "image"},
        {},
    ],
)
def test_fields_of_a_file_do_not_make_one(value: dict[str, Any]) -> None:
    assert attachment_of(value) is None


def test_the_words_beside_the_bytes_stay() -> None:
    value = {"media_type": "image/png", "data": PNG, "ocr": "zone 4 failed"}
    file = attachment_of(value)
    assert file is not None
    assert not file.is_whole
    assert without_bytes(value, file.line) == value | {"data": "[image, image/png, 16 bytes]"}


def test_a_caption_is_never_cut_and_a_name_is_a_line() -> None:
    assert attachment_line({"type": "image", "name": "a\nb", "alt": "word " * 50}) == f"[image a b: {('word ' * 50).strip()}]"


def test_a_data_url_is_its_line_and_a_key_stays() -> None:
    key = f"ssh-rsa {'QUFBQUJCQkJDQ0ND0123456789abcdefXYZ' * 12} mia@laptop"
    assert without_data_urls(f"![kiln](data:image/png;base64,{PNG}) {key}") == f"![kiln]([image, image/png, 16 bytes]) {key}"
    assert without_runs(key) == "ssh-rsa [encoded data, 315 bytes] mia@laptop"
