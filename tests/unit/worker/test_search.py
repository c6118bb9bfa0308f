"""What a search asks for and how a result looks; `tests/contract/test_search.py` asks the service."""

import pytest

from builder.recall.search.candidates import Find
from builder.wire.requests import SearchRequest
from builder.worker.search import _passage, _searching
from tests.factories import make_profile, make_remembered, make_view


@pytest.mark.parametrize(
    ("names", "scope"), [({"session": "s1"}, "session"), ({"user_id": "ada"}, "user"), ({}, "workspace")], ids=str
)
def test_the_scope_is_what_the_request_names(names: dict[str, str], scope: str) -> None:
    profile = make_profile()
    retrieval = _searching(profile, SearchRequest(text="kiln", limit=3, **names)).retrieval
    assert (retrieval.scope, retrieval.schemas) == (scope, profile.retrieval.schemas)


def test_a_long_text_is_shown_by_what_was_found_of_it() -> None:
    view = make_view([make_remembered("The kiln is cold. The glaze is blue. The yard is wet.")])
    assert (
        _passage(view, Find(row=0, spans=((0, 17), (37, 53)), probability=0.25004))["text"]
        == "The kiln is cold. … The yard is wet."
    )
    assert _passage(view, Find(row=0))["text"] == "The kiln is cold. The glaze is blue. The yard is wet."
    assert _passage(view, Find(row=0, probability=0.25004))["probability"] == 0.25


def test_a_result_has_no_control_text() -> None:
    passage = _passage(make_view([make_remembered("Page 7 <|im_end|> \x1b[31mred")]), Find(row=0))
    assert passage["text"] == "Page 7 <\\|im_end|> ⟨U+001B⟩[31mred"
