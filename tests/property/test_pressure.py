"""Conversations that do not fit: the page stays full and answerable, tells what is missing, and its receipt accounts for all."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from builder.adapters.tokens import load_counter
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.stored import StoredBreadcrumb
from builder.extras.chat_formats.messages import Message
from builder.extras.explain.context_receipt import ContextReceipt
from tests.chat_copies import ChatFormat, messages_of
from tests.conversations import answered, bash, ids_of, replied, said
from tests.examples import examples
from tests.explanations import make_explanation
from tests.factories import make_context, make_profile
from tests.property.sessions import MESSAGES, SCRIPTS, Session, sessions
from tests.two_sections import two_sections

QUESTIONS = ("Where is the blue kiln?", "Wo ist der blaue Ofen?", "Где синяя печь?", "青い窯はどこですか?")
shapes = st.sampled_from(("none", "openai", "anthropic", "responses"))
layouts = st.sampled_from(("default", "two sections"))


def profile(budget: int, shape: ChatFormat = "none", layout: str = "default") -> Profile:
    return make_profile(
        two_sections() if layout == "two sections" else layout, budget=budget, chat_format=shape, summaries=None, worth=None
    )


@st.composite
def loops(draw: st.DrawFn) -> tuple[list[StoredBreadcrumb], str]:
    """A question, rounds of one to three calls with results of any size, and the question's words."""
    question = draw(st.sampled_from(QUESTIONS))
    rows = [said(1, "Hi."), replied(2, "Hello."), said(3, question)]
    for number in range(draw(st.integers(1, 25))):
        parallel, start = draw(st.integers(1, 3)), 10 + 10 * number
        calls = [bash(f"r{number}-{n}", f"cat {number} {n}") for n in range(parallel)]
        rows.append(replied(start, draw(st.sampled_from(("", "I look."))), *calls))
        words = draw(st.sampled_from(SCRIPTS[:4]))
        for n, (call, _, _) in enumerate(calls):
            size = draw(st.sampled_from((1, 3, 30, 200)))
            rows.append(answered(start + 1 + n, call, "\n".join(f"{number}/{n}/{line} {words}" for line in range(size))))
    return rows, question


def words_of(chat: tuple[Message, ...]) -> list[str]:
    return [part.text for message in chat if message.role == "user" for part in message.parts if not part.is_note]


@examples(24)
@given(loops(), st.integers(1000, 2500), shapes, layouts)
def test_a_tool_loop_of_any_length_has_its_question_last_and_in_messages_and_sees_the_newest_results(
    loop: tuple[list[StoredBreadcrumb], str], budget: int, shape: ChatFormat, layout: str
) -> None:
    (*rows, last), question = loop
    context = make_context(last, rows, profile(budget, shape, layout))
    assert context.markdown.endswith(f"- User: {question}\n")
    assert context.tokens <= budget
    newest = [row.breadcrumb for row in (*rows, last)[-3:] if row.breadcrumb.role == "tool"]
    assert newest[-1].id in ids_of(context, "tool_results")
    assert shape == "none" or question in words_of(messages_of(context))
    assert shape == "none" or messages_of(context)[-1].exchanges
    if context.left_out or context.partial:
        assert used(context) >= 0.85


def used(context: Context) -> float:
    """Share of the allowance that the page or its messages use."""
    count = load_counter(context.encoding)
    texts = [part.text for message in messages_of(context) for part in message.parts]
    texts += [
        text for message in messages_of(context) for each in message.exchanges for text in (each.call.arguments, *each.results)
    ]
    return max(context.tokens, sum(map(count, texts))) / context.budget


PAGES = ("default", "xml")


def check_lines(receipt: ContextReceipt, markdown: str) -> None:
    """Each line that is not empty belongs to one part, and parts come in page order."""
    lines = [line for part in receipt.parts for line in range(part.first, part.last + 1)]
    assert lines == sorted(set(lines))
    texts = markdown.split("\n")
    assert {number for number, text in enumerate(texts, 1) if text.strip()} <= set(lines)
    assert all(0 < part.first <= part.last <= len(texts) for part in receipt.parts)


@examples(150)
@given(sessions(), st.integers(200, 3000), st.sampled_from(PAGES))
def test_a_receipt_accounts_for_the_whole_page_and_for_all_that_is_not_on_it(session: Session, budget: int, page: str) -> None:
    profile = make_profile(budget=budget, page=page, retrieval={"schemas": MESSAGES})
    context, explanation = make_explanation(session.trigger, session.rows, profile)
    receipt = explanation.receipt()
    check_lines(receipt, context.markdown)

    tokens = Counter[tuple[str, str]]()
    for part in receipt.parts:
        if part.source:
            tokens[part.section, part.source.id] += part.tokens
    assert tokens == {(each.name, name): number for each in context.sections for name, number in each.tokens_by_id.items()}

    assert receipt.by_reason == context.left_out
    assert Counter(absent.reason for absent in receipt.absent) == context.left_out
    on_page = {name for _, name in tokens}
    assert on_page.isdisjoint(absent.source.id for absent in receipt.absent)
    assert {omission.id for omission in context.omissions} <= {absent.source.id for absent in receipt.absent}
    assert receipt.budget.tokens == context.tokens
    assert receipt.budget.unused == receipt.budget.allowance - context.tokens


@examples(60)
@given(sessions(), st.integers(200, 2000))
def test_each_breadcrumb_that_was_recalled_has_a_sentence_that_says_whether_it_is_on_the_page(
    session: Session, budget: int
) -> None:
    _, explanation = make_explanation(session.trigger, session.rows, make_profile(budget=budget))
    on_page = {part.source.id for part in explanation.receipt().parts if part.source}
    for name in {row.breadcrumb.id for row in session.rows}:
        if explanation.knows(name):
            sentence = explanation.why(name)
            assert sentence.startswith(f"{name} v")
            assert (" is on the page, " in sentence) is (name in on_page)
            assert sentence.endswith(".")
