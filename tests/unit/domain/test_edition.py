"""An edition is known by its files."""

from dataclasses import replace

from builder.domain.edition import Edition

EDITION = Edition(templates="t", profiles={"default": "p"}, layers=({"a": "1", "b": "2"}, {"c": "3"}))


def test_the_same_files_are_the_same_edition_whatever_their_order() -> None:
    assert replace(EDITION, layers=({"b": "2", "a": "1"}, {"c": "3"})).id == EDITION.id


def test_another_text_another_path_and_another_layer_are_another_edition() -> None:
    others = (({"a": "1", "b": "9"}, {"c": "3"}), ({"a": "1", "d": "2"}, {"c": "3"}), ({"a": "1"}, {"b": "2", "c": "3"}))
    assert len({EDITION.id, *(replace(EDITION, layers=layers).id for layers in others)}) == 4
