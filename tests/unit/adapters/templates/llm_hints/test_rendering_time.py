"""The queries of a record have the time of one rendering, whatever clock ticks."""

from typing import Any

import pytest
from typing_extensions import override

from builder.adapters.templates.llm_hints import rules
from builder.adapters.templates.llm_hints.queries import JqProcess
from builder.adapters.templates.sandbox.runtime import Limits
from tests.unit.adapters.templates.llm_hints.test_rendering import TICKET, Rendered


def test_all_queries_of_a_record_together_have_the_time_of_one_rendering(monkeypatch: pytest.MonkeyPatch) -> None:
    process = OneSecondEach()
    monkeypatch.setattr(rules, "jq_process", lambda: process)
    queries = {f"k{n}": {"type": "jq", "query": ".number"} for n in range(4)}
    enough, too_little = (Rendered(limits=Limits(seconds=seconds, clock=lambda: 0.0)) for seconds in (4, 3))
    assert enough.fragment(TICKET, {"transform": queries}).failed == ""
    assert "it takes longer than 3 s" in too_little.fragment(TICKET, {"transform": queries}).failed


class OneSecondEach(JqProcess):
    """jq, of which each query counts as a second."""

    @override
    def value(self, query: str, body: Any) -> tuple[Any, float]:
        return super().value(query, body)[0], 1.0
