"""What an agent said is found after a session was compacted, with or without a summary of people's words on the page."""

from dataclasses import replace
from pathlib import Path

import pytest

from builder.app.broker import IN_MEMORY, location
from builder.app.components import open_components
from builder.app.settings import EmbeddingSettings, Settings
from builder.bench.summaries import Remembering
from builder.domain.page_settings import Summaries
from builder.extras.summaries.scheduler import SummaryScheduler
from builder.extras.summaries.writer import SummaryWriter
from builder.worker.jobs import Observer
from builder.worker.log import StoredLog
from tests.factories import make_breadcrumb
from tests.two_sections import two_sections

FACTS = {
    "The kiln was installed by Perez on 4 May.": "Who installed the kiln?",
    "The gas meter has the number 7731-B.": "Which number has the gas meter?",
    "The alarm company charges 82 euros a quarter.": "What does the alarm company charge?",
}
CHAT = "Bread number {} came out of the oven at noon, brown and a little flat."
MESSAGES = 200


@pytest.mark.parametrize("has_summary", [True, False])
@pytest.mark.parametrize("budget", [1000, 2000])
async def test_what_an_agent_said_is_found_after_the_session_was_compacted(
    budget: int, has_summary: bool, tmp_path: Path
) -> None:
    facts = dict(zip(range(20, MESSAGES, 40), FACTS, strict=False))
    settings = Settings(data_dir=tmp_path, embedding=EmbeddingSettings(engine="none"))
    async with open_components(settings, location(IN_MEMORY)) as core:
        for number in range(MESSAGES):
            role, text = ("user", CHAT.format(number)) if number % 2 else ("assistant", facts.get(number, f"Noted, {number}."))
            last = make_breadcrumb(text, number + 1, id=f"m{number}", role=role)
            await core.builder.remember(last)
        profile = replace(two_sections(), summaries=Summaries()) if has_summary else core.profile("default")
        writer = SummaryWriter(Remembering(core, last), core.helpers, None, core.store, Observer())
        scheduler = SummaryScheduler(StoredLog(core.store), core.builder.recaller, writer, lambda _workspace: (profile,))
        assert (await scheduler.compact(last.workspace, last.session, profile)).covered > MESSAGES // 2
        for number, (fact, question) in enumerate(FACTS.items()):
            asks = make_breadcrumb(question, 10 * MESSAGES + number, id=f"asks-{number}")
            (page,) = (await core.builder.build(asks, (replace(profile, budget=budget),))).contexts
            assert fact in page.markdown
            summaries = [section.tokens for section in page.sections if section.name == "summary"]
            assert len(summaries) == has_summary
            assert all(tokens > budget / 3 for tokens in summaries), "what grows after them takes nothing from kept words"
