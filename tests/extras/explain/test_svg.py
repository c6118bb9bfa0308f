"""What every picture is: XML that GitHub shows, without scripts, links or fonts, in light and dark."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from builder.domain.errors import Rejected
from builder.extras.explain.svg import DARK, LIGHT, box, picture, words, write_picture


def test_a_picture_has_its_colours_in_light_and_dark_and_brings_nothing_in() -> None:
    text = picture(100, 50, "A title", [words(1, 2, "Hello")])
    root = ET.fromstring(text)  # noqa: S314 - our own
    assert (root.get("viewBox"), root[0].text) == ("0 0 100 50", "A title")
    assert LIGHT.keys() == DARK.keys()
    light, dark = text.split("@media(prefers-color-scheme:dark)")
    assert all(colour in light for colour in LIGHT.values())
    assert all(colour in dark for colour in DARK.values())
    assert not re.search(r"<script|href|url\(|@import|@font-face|<image|<foreignObject|\son\w+=", text)


@pytest.mark.parametrize("text", ['</text><script>alert("1")</script>', "a & b < c", "\x00\x0b\ufffe\ud800 end"])
def test_no_text_breaks_out_of_a_picture(text: str) -> None:
    root = ET.fromstring(picture(9, 9, text, [words(1, 2, text), box(0, 0, 1, 1, "ink", name=text)]))  # noqa: S314 - our own
    assert {each.tag.rpartition("}")[2] for each in root.iter()} == {"svg", "title", "style", "rect", "text"}
    assert "end" not in text or (root[-2].text or "").endswith("\ufffd end")


def test_a_picture_is_written_or_the_sentence_says_why_not(tmp_path: Path) -> None:
    write_picture(tmp_path / "a.svg", "x")
    assert (tmp_path / "a.svg").read_text("utf-8") == "x"
    with pytest.raises(Rejected, match="cannot be written: No such file or directory; name another file"):
        write_picture(tmp_path / "nowhere" / "a.svg", "x")
