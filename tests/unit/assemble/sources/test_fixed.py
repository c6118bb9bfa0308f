"""What no page is without: the profile's own words, its reminders on their turns, the current message and what is pinned."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from builder.adapters.profiles.profiles import parse_profile
from builder.assemble.sources.fixed import reminder_texts
from builder.domain.context import Context
from builder.domain.errors import Rejected
from builder.domain.page_settings import Reminder
from builder.domain.profile import Profile
from builder.domain.selector import Pinned, Selector
from builder.domain.stored import StoredBreadcrumb
from builder.domain.tool_output import Cut
from builder.recall.questions import Questions
from tests.conversations import answered, bash, chat, ids_of, replied, said
from tests.factories import (
    MORNING,
    ids_on_page,
    make_catalog,
    make_context,
    make_history,
    make_profile,
    make_remembered,
    make_turn,
    view_of,
)

CHATTER = [make_turn(f"Remark number {n} about the garden.", n) for n in range(1, 6)]
QUESTION = make_remembered("Which bulbs did we buy?", 99)
WORDS = " ".join(f"Sentence {n} of a long report." for n in range(900))
OPEN = "triggers: [user.message.v1]\nretrieval: {schemas: []}\nsystem_prompt: Be brief.\npinned: [tool.catalog.v1]\n"
SECTIONS = "sections:\n  - {name: recent, title: Recent, source: window}\n  - {name: current, title: Current, source: trigger}\n"


def profile(prompt: str = "", **changes: Any) -> Profile:
    return make_profile(system_prompt=prompt, **changes)


def cut_of(context: Context) -> int:
    """Tokens that are shown of the current message."""
    (part,) = (part for part in context.partial if part.id == context.trigger.id)
    return part.tokens_shown


def test_every_page_has_a_place_for_the_system_prompt_in_front_word_for_word() -> None:
    prompt = "# You are a gardener\n\n- Never guess."
    for name in ("default", "recall"):
        context = make_context(QUESTION, CHATTER, make_profile(name, system_prompt=prompt))
        assert context.markdown.startswith(f"## Role\n{prompt}\n")
        assert context.sections[0].ids == ()
        assert context.flags == ()


def test_an_agent_that_sends_its_prompt_and_tools_itself_switches_them_off() -> None:
    shown, hidden = (parse_profile("mine", OPEN + switches + SECTIONS) for switches in ("", "show_system_prompt: false\n"))
    assert [section.source for section in shown.sections] == ["system", "window", "trigger"]
    assert [section.source for section in hidden.sections] == ["window", "trigger"]
    assert (shown.system_prompt, hidden.system_prompt) == ("Be brief.", "")
    assert parse_profile("mine", f"{OPEN}show_tool_catalog: false\n{SECTIONS}").pinned == ()


def test_a_prompt_is_whole_and_a_page_on_which_it_leaves_the_message_no_room_is_refused_with_what_to_do() -> None:
    for prompt in ("Always answer in one sentence. ", "Antworte immer in einem Satz. ", "いつも一文で答えてください。"):
        with pytest.raises(Rejected, match=r"too small for the system prompt and a useful part .* raise `budget` in the profile"):
            make_context(QUESTION, CHATTER, profile(prompt * 100, budget=200))
        whole = make_context(QUESTION, CHATTER, profile(prompt * 10, budget=200)).markdown
        assert prompt * 10 in whole
        assert whole.endswith("- User: Which bulbs did we buy?\n")


def test_a_budget_too_small_for_the_current_message_is_refused_with_what_to_do() -> None:
    with pytest.raises(Rejected, match=r"budget of 12 tokens is too small .* raise `budget` in the profile 'default'"):
        make_context(QUESTION, [], profile(budget=12))


def test_a_page_is_refused_only_when_no_useful_part_of_the_message_fits() -> None:
    long = make_remembered(WORDS, 99)
    for budget in range(20, 200, 10):
        try:
            context = make_context(long, [], profile("Always answer in one sentence. " * 10, budget=budget))
        except Rejected:
            assert budget <= 130
        else:
            assert cut_of(context) >= 60


@pytest.mark.parametrize("budget", range(90, 200, 10))
def test_a_message_that_cuts_badly_is_shown_as_far_as_it_goes(budget: int) -> None:
    context = make_context(said(800, "```\n" + "a b c " * 8000), [], profile(budget=budget))
    assert "characters left out, id m800 …]" in context.markdown
    assert context.tokens <= budget


def test_results_that_a_limit_cuts_short_refuse_no_page() -> None:
    rules = replace(make_profile().tool_output, cut=Cut(results=1, characters=20))
    rows = [said(1, "Go."), replied(2, "", bash("r1", "ls"))]
    context = make_context(answered(3, "r1", ["one " * 20, "two " * 20]), rows, profile(tool_output=rules))
    assert "(1 of 2 results shown" in context.markdown


@pytest.mark.parametrize("text", ["key{0} = value{0}", "Satz {0} eines langen Berichts.", "第{0}行,窑很热。"])
def test_a_current_message_is_whole_up_to_half_of_the_page_and_has_more_where_nothing_else_needs_it(text: str) -> None:
    lines = [text.format(n) for n in range(200)]
    alone = make_context(said(800, "\n".join(lines)), [], profile(budget=60_000)).tokens
    for budget in (alone, 2 * alone + 20):
        rows = chat(200) if budget > alone else []
        markdown = make_context(said(800, "\n".join(lines)), rows, profile(budget=budget, summaries=None)).markdown
        assert all(f"{line}\n" in markdown for line in lines)


def test_a_longer_one_is_cut_to_its_half_with_its_id_and_the_conversation_has_the_rest() -> None:
    context = make_context(said(800, f"{WORDS} Where is the kiln?"), chat(200), profile(budget=1000, summaries=None))
    assert "- User: Sentence 0 of a long report." in context.markdown
    assert "characters left out, id m800 …]" in context.markdown
    assert context.markdown.endswith("Where is the kiln?\n")
    assert 400 < cut_of(context) < 560, "its half, and what is too little for one more message"
    assert ids_of(context, "conversation")[-1] == "m200"
    assert 950 < context.tokens <= 1000


@pytest.mark.parametrize("rows", [[], chat(2)])
def test_a_message_that_is_cut_has_all_that_the_conversation_does_not_need(rows: list[StoredBreadcrumb]) -> None:
    context = make_context(said(800, f"{WORDS} Where is the kiln?"), rows, profile(budget=1000, summaries=None))
    assert ids_of(context, "conversation") == [row.breadcrumb.id for row in rows]
    assert 940 < context.tokens <= 1000


@pytest.mark.parametrize(("words", "shown"), [(4, 50), (100, 12), (300, 12)])
def test_of_many_messages_the_newest_are_shown_that_have_room_for_a_useful_part_each(words: int, shown: int) -> None:
    rows = [said(1, "How hot is the kiln?"), replied(2, "", bash("r1", "probe"))]
    rows += [said(3 + n, f"Question {n}: " + "word " * words, id=f"82aa449d-4e5c-46b6-9df8-ae76c69f68{n}") for n in range(10, 59)]
    ids = tuple(row.breadcrumb.id for row in rows if row.breadcrumb.role == "user")
    small = make_profile(budget=2000)
    context = make_context(answered(99, "r1", "ok"), rows, small, questions=Questions(ids=ids, current=ids))
    (section,) = (each for each in context.sections if each.name == "current")
    lines = [line for line in context.markdown.split("## Current User Message\n")[1].splitlines() if line.startswith("- ")]
    assert section.ids == ids[-len(section.ids) :]
    assert len(lines) == len(section.ids) >= shown
    assert context.markdown.count("not shown") == (shown < 50)


def test_of_messages_of_many_days_as_many_are_shown_as_have_room_under_their_own_dates() -> None:
    days = [
        make_remembered(f"Is it fired, the bowl with number {n}?", 1 + n, created_at=MORNING + timedelta(days=n))
        for n in range(30)
    ]
    rows = [*days, replied(40, "", bash("r1", "probe"))]
    ids = tuple(row.breadcrumb.id for row in days)
    context = make_context(answered(99, "r1", "ok"), rows, profile(budget=300), questions=Questions(ids=ids, current=ids))
    (section,) = (each for each in context.sections if each.name == "current")
    assert len(section.ids) >= 9


URGENT = said(800, "And now?", tags=["urgent"])


def reminding(*reminders: Reminder) -> Profile:
    return make_profile(reminders=reminders)


def reminder(text: str = "Cite.", section: str = "closing", every: int = 1, when: Selector | None = None) -> Reminder:
    return Reminder(section=section, text=text, every=every, when=when)


def reminder_words(profile: Profile, rows: list[StoredBreadcrumb] | None = None) -> dict[str, str]:
    view = view_of(make_history(rows or []), URGENT.breadcrumb.place)
    return reminder_texts(profile, URGENT.breadcrumb, view)


def test_a_profile_without_reminders_has_no_words() -> None:
    assert reminder_words(make_profile()) == {}


def test_reminders_of_one_section_stand_below_each_other_in_the_order_of_the_profile() -> None:
    profile = reminding(reminder("Cite."), reminder("Be kind.", "role"), reminder("Be true."))
    assert reminder_words(profile) == {"role": "Be kind.", "closing": "Cite.\nBe true."}


def test_a_reminder_of_every_third_turn_counts_messages_of_people_and_the_current_one() -> None:
    profile = reminding(reminder(every=3))
    shown = [bool(reminder_words(profile, rows=chat(number))) for number in range(0, 12, 2)]
    assert shown == [False, False, True, False, False, True]


def test_a_reminder_for_some_triggers_is_shown_for_those_alone() -> None:
    urgent, quiet = (reminder(when=Selector(all_tags=(tag,))) for tag in ("urgent", "quiet"))
    assert reminder_words(reminding(urgent)) == {"closing": "Cite."}
    assert reminder_words(reminding(quiet)) == {}


def test_control_text_of_a_profile_is_made_visible() -> None:
    assert reminder_words(reminding(reminder("Be \u202ebrief."))) == {"closing": "Be ⟨U+202E⟩brief."}


BULBS = said(800, "Which bulbs did we buy?")


def pinning() -> Profile:
    kind = Pinned(selector=Selector(all_tags=("pinned",)), keep="all", section="pinned")
    tools = next(rule for rule in make_profile().sections if rule.source == "pinned")
    section = replace(tools, name="pinned", title="Pinned", section_class="slow", max_share=1)
    return make_profile(pinned=(kind,), sections=(section, *make_profile().sections))


def test_pinned_breadcrumbs_stand_in_their_own_section_and_nowhere_else() -> None:
    sundays = said(2, "We never work on Sundays.", tags=["pinned"])
    context = make_context(BULBS, [said(1, "Hello."), sundays, *chat(5, 3)], pinning(), (sundays,))
    assert ids_of(context, "pinned") == ["m2"]
    assert "We never work on Sundays." in context.markdown.partition("## Conversation")[0]


def test_they_stand_in_place_order() -> None:
    notes = tuple(make_remembered(f"Rule {n}.", n, id=name, tags=("pinned",)) for n, name in enumerate(("z", "b", "a"), 1))
    context = make_context(BULBS, [], pinning(), tuple(reversed(notes)))
    assert ids_of(context, "pinned") == ["z", "b", "a"]


def test_what_is_of_two_kinds_stands_once() -> None:
    both = make_remembered("Rule.", 1, schema="note.v1", tags=("pinned",))
    profile = pinning()
    profile = replace(
        profile, pinned=(*profile.pinned, Pinned(selector=Selector(schemas=("note.v1",)), keep="latest", section="tools"))
    )
    context = make_context(BULBS, [], profile, (both,))
    assert ids_on_page(context) == ["m1", "m800"]


def test_a_result_stands_below_the_call_of_a_pinned_message() -> None:
    call = replied(1, "I look for bulbs.", bash("r1", "ls bulbs"), tags=["pinned"])
    context = make_context(BULBS, [call, answered(2, "r1", "tulips")], pinning(), (call,))
    assert "- Call bash: command: ls bulbs\n  Result: tulips" in context.markdown


@pytest.mark.parametrize("tools", [60, 500])
def test_under_pressure_a_catalog_is_cut_to_its_share_and_the_conversation_stays_alive(tools: int) -> None:
    catalog = make_catalog(tools, 500)
    context = make_context(BULBS, chat(200), make_profile(budget=2000), (catalog,))
    spent = {section.name: section.tokens for section in context.sections}
    assert 300 < spent["tools"] <= 500
    assert spent["conversation"] > 300
    assert [part.id for part in context.partial] == ["m500"]
    assert "characters left out, id m500 …]" in context.markdown


def test_an_edit_of_what_stands_that_came_later_changes_nothing() -> None:
    note = make_remembered("Bulbs note: it is foggy.", 1, schema="note.v1")
    edited = make_remembered("Bulbs note: it is sunny.", 950, schema="note.v1", id="m1", version=2)
    profile = make_profile(pinned=("note.v1",))
    before = make_context(BULBS, [note, *chat(5, 2)], profile, (note,))
    assert ids_on_page(before).count("m1") == 1
    assert make_context(BULBS, [note, *chat(5, 2), edited], profile, (note,)) == before
