"""Each call is paired with its results once, in whichever order they come."""

from builder.domain.recall import StoredBreadcrumb
from builder.recall.index.links import ToolExchange, ToolExchanges
from tests.conversations import answered, bash, failed, replied, requested, said
from tests.factories import make_history


def exchanges_of(rows: list[StoredBreadcrumb]) -> ToolExchanges:
    return make_history(rows).exchanges


def pairs(exchanges: ToolExchanges) -> list[tuple[str, list[int], list[int]]]:
    """Request, callers and results of each exchange once, in the order of the calls."""
    unique = {id(exchange): exchange for calls in exchanges.of_caller.values() for exchange in calls}
    return [(exchange.request, exchange.callers, exchange.results) for exchange in unique.values()]


def test_results_and_errors_are_paired_with_the_call_of_their_request_id() -> None:
    exchanges = exchanges_of([replied(1, "", bash("a", "ls"), bash("b", "pwd")), failed(2, "b", "no"), answered(3, "a", 1)])
    assert pairs(exchanges) == [("a", [0], [2]), ("b", [0], [1])]
    assert exchanges.of_result[1].request == "b"


def test_a_result_that_came_before_its_call_is_paired_once_the_call_has_come() -> None:
    rows = [answered(1, "a", 1), said(2, "Hm."), requested(3, "a", command="ls")]
    assert exchanges_of(rows[:2]).of_result == {}
    exchanges = exchanges_of(rows)
    assert pairs(exchanges) == [("a", [2], [0])]
    assert exchanges.of_result[0] is exchanges.of_caller[2][0]


def test_a_call_that_is_passed_on_is_one_exchange_with_two_callers() -> None:
    rows = [replied(1, "", bash("a", "ls")), requested(2, "a", command="ls"), answered(3, "a", 1)]
    assert pairs(exchanges_of(rows)) == [("a", [0, 1], [2])]


def test_a_request_id_that_is_used_again_begins_another_exchange_that_succeeds_the_first() -> None:
    rows = [replied(1, "", bash("a", "ls")), answered(2, "a", 1), replied(3, "", bash("a", "ls")), answered(4, "a", 2)]
    exchanges = exchanges_of(rows)
    assert pairs(exchanges) == [("a", [0], [1]), ("a", [2], [3])]
    assert [exchange.successor for exchange in (exchanges.of_result[1], exchanges.of_result[3])] == [2, None]


def test_a_later_version_makes_the_same_call_also_when_the_request_id_was_used_since() -> None:
    rows = [
        replied(1, "", bash("a", "ls")),
        replied(2, "", bash("a", "pwd")),
        replied(3, "", bash("a", "id"), id="m1", version=2),
    ]
    exchanges = exchanges_of(rows)
    assert pairs(exchanges) == [("a", [0, 2], []), ("a", [1], [])]
    assert "id" in exchanges.of_caller[0][0].signature


def test_of_a_request_id_that_a_message_names_twice_the_last_call_counts() -> None:
    (exchange,) = exchanges_of([replied(1, "", bash("a", "pwd"), bash("a", "ls"))]).of_caller[0]
    assert isinstance(exchange, ToolExchange)
    assert "ls" in exchange.signature
    assert "pwd" not in exchange.signature


def test_request_ids_of_two_sessions_never_meet() -> None:
    exchanges = exchanges_of([requested(1, "a", command="ls"), answered(2, "a", 1, session="s43")])
    assert pairs(exchanges) == [("a", [0], [])]
    assert exchanges.of_result == {}
