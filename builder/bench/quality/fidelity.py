"""`bench fidelity`: whether pages hold the conversation. Conversations that just fit, and conversations that are far too long.

Pages are read as text, without the code that assembled them.
"""

import re
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from builder.app.components import Components
from builder.bench.data.datasets import Conversation, Dataset, remember
from builder.bench.scratch import encoder
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.context import Context
from builder.domain.profile import Profile
from builder.domain.selector import schemas_of

FILL_SHARES = (0.95, 0.97, 0.99, 1.0)
"""Shares of the allowance that a conversation which fits has, by turns."""
MAX_TOKENS = 8_000
"""Tokens of the longest beginning."""
NEWEST_MESSAGES = 20
_HEADING = re.compile(r"^## ", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"\[… [\d,]+ characters left out")


@dataclass(frozen=True, slots=True)
class Fits:
    """Of one conversation that fits."""

    share: float
    """Of the allowance, used."""
    whole: float
    """Share of the messages that the page holds word for word."""
    in_order: bool
    code: tuple[bool, ...]
    """Of each code block, whether the page holds it word for word."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """Of one page whose conversation does not fit."""

    newest: float
    """Share of the newest messages that are whole on it."""
    older_first: int
    """Messages that are left out though older ones are shown."""
    cut: int
    """Marks of cuts."""
    tokens: int


async def run(core: Components, dataset: Dataset, profile: Profile, step: Callable[[], None]) -> dict[str, Any]:
    """The report. step: called after each message."""
    fits, pressed = [], []
    for conversation in dataset.conversations:
        await remember(core.builder, conversation, step)
        for messages, trigger, filled in full(conversation, profile):
            page = await _page(core, trigger, filled)
            fits.append(read_whole(page, tuple(filter(is_message, messages)), filled))
        messages = tuple(filter(is_message, conversation.breadcrumbs))
        for question in conversation.questions:
            page = await _page(core, question.trigger, profile)
            if not read_all(page.markdown, messages):
                pressed.append(read_pressed(page, messages))
    return {"dataset": dataset.name, "profile": profile.consumer, "fits": _fits(fits), "pressure": _pressure(pressed)}


def is_message(crumb: Breadcrumb) -> bool:
    """Whether it is a message of a person or an agent; calls, results and notes have other forms on a page."""
    return crumb.role in {"user", "assistant"} and bool(crumb.text.strip())


def full(conversation: Conversation, profile: Profile) -> Iterator[tuple[tuple[Breadcrumb, ...], Breadcrumb, Profile]]:
    """Beginnings of the conversation, the message behind each as trigger, and the profile with a budget that it just fills."""
    count = encoder(profile.encoding)
    tokens, triggers = len(count("## Recent Conversation\n\n## Current User Message\n")), 0
    days: set[str] = set()
    for number, crumb in enumerate(conversation.breadcrumbs):
        day = f"{crumb.created_at.day} {crumb.created_at:%B %Y}"
        tokens += 0 if day in days else len(count(f"\n[{day}]\n"))
        days.add(day)
        tokens += len(count(_item(crumb)))
        if tokens > MAX_TOKENS:
            return
        if crumb.schema in schemas_of(profile.triggers):
            triggers += 1
            share = FILL_SHARES[triggers % len(FILL_SHARES)]
            yield conversation.breadcrumbs[:number], crumb, replace(profile, budget=int(tokens / share) + profile.reserve)


def _item(crumb: Breadcrumb) -> str:
    return f"- {crumb.speaker}: {crumb.text}\n".replace("\n", "\n  ")


async def _page(core: Components, trigger: Breadcrumb, profile: Profile) -> Context:
    remembered = await core.builder.ingest.facts(trigger)
    (context,) = (await core.builder.build_contexts(remembered, (profile,))).contexts
    return context


def items(markdown: str, heading: str = "") -> list[str]:
    """What stands in the items of the section whose heading begins so, in page order; "" = of all."""
    texts = []
    for section in _HEADING.split(markdown)[1:]:
        title, _, text = section.partition("\n")
        if title.startswith(heading):
            pieces = re.split(r"^- ", text, flags=re.MULTILINE)[1:]
            texts += [re.sub(r"^  ", "", re.split(r"\n+(?=\[|$)(?!\[…)", piece)[0], flags=re.MULTILINE) for piece in pieces]
    return texts


def holds(item: str, crumb: Breadcrumb) -> bool:
    """Whether an item has exactly the text of this breadcrumb."""
    _, _, text = item.partition(": ") if ": " in item.split("\n", 1)[0] else item.partition(":")
    return text.strip() == "\n".join(line.rstrip("\r") for line in crumb.text.split("\n")).strip()


def read_whole(context: Context, messages: tuple[Breadcrumb, ...], profile: Profile) -> Fits:
    """What of a conversation that fits stands on its page."""
    lines = items(context.markdown)
    places = [next((place for place, item in enumerate(lines) if holds(item, crumb)), -1) for crumb in messages]
    in_order = _in_order(lines, messages)
    blocks = [block for crumb in messages for block in _CODE.findall(crumb.text)]
    text = "\n".join(lines)
    return Fits(
        share=context.tokens / profile.allowance,
        whole=statistics.fmean(place >= 0 for place in places) if places else 1.0,
        in_order=in_order,
        code=tuple(block in text for block in blocks),
    )


def _in_order(lines: list[str], messages: tuple[Breadcrumb, ...]) -> bool:
    """Whether the messages follow each other on the page."""
    rest = iter(lines)
    return all(any(holds(item, crumb) for item in rest) for crumb in messages)


def read_all(markdown: str, crumbs: tuple[Breadcrumb, ...]) -> bool:
    """Whether the conversation stands on the page as a whole."""
    return _in_order(items(markdown, "Recent"), crumbs)


def read_pressed(context: Context, crumbs: tuple[Breadcrumb, ...]) -> Pressed:
    """What of a conversation that does not fit stands on its page."""
    recent, everything = items(context.markdown, "Recent"), items(context.markdown)
    newest = crumbs[-NEWEST_MESSAGES:]
    is_whole = [any(holds(item, crumb) for item in recent) for crumb in crumbs]
    first = next((number for number, there in enumerate(is_whole) if there), len(is_whole))
    return Pressed(
        newest=statistics.fmean(any(holds(item, crumb) for item in everything) for crumb in newest),
        older_first=sum(
            not there and not any(_begins(item, crumb) for item in recent)
            for crumb, there in zip(crumbs[first:], is_whole[first:], strict=True)
        ),
        cut=len(_MARK.findall(context.markdown)),
        tokens=context.tokens,
    )


def _begins(item: str, crumb: Breadcrumb) -> bool:
    """Whether an item is this breadcrumb, cut."""
    return bool(_MARK.search(item)) and f"id {crumb.id} " in item


def _fits(pages: list[Fits]) -> dict[str, Any]:
    code = [intact for each in pages for intact in each.code]
    return {
        "pages": len(pages),
        "allowance_used": round(statistics.fmean(each.share for each in pages), 4) if pages else None,
        "messages_whole": round(statistics.fmean(each.whole for each in pages), 4) if pages else None,
        "in_order": round(statistics.fmean(each.in_order for each in pages), 4) if pages else None,
        "code_blocks": len(code),
        "code_intact": round(statistics.fmean(code), 4) if code else None,
    }


def _pressure(pages: list[Pressed]) -> dict[str, Any]:
    if not pages:
        return {"pages": 0}
    return {
        "pages": len(pages),
        "tokens_mean": round(statistics.fmean(each.tokens for each in pages), 1),
        "newest_20_whole": round(statistics.fmean(each.newest for each in pages), 4),
        "older_shown_before_newer_left_out": sum(each.older_first for each in pages),
        "cut": sum(each.cut for each in pages),
    }
