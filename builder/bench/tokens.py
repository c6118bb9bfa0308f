"""`bench tokens`: true tokens of the context beside what agents send without it (features J4)."""

import json
import statistics
from collections.abc import Iterable
from typing import Any

from builder.app import Core, counter, summarise
from builder.bench.datasets import Conversation, Dataset
from builder.domain.breadcrumb import Breadcrumb
from builder.domain.profile import Profile

LAST = 20
ALL_JSON, LAST_JSON, LAST_TEXT = "all records as JSON", f"last {LAST} as pretty JSON with the catalog", f"last {LAST} as text"


def baselines(lines: Iterable[str]) -> dict[str, str]:
    """The texts of the three baselines for events as JSON lines."""
    records = [json.loads(line) for line in lines]
    bodies = [(record["schema_name"], record["context"]) for record in records]
    return _baselines(bodies, [json.dumps(record, ensure_ascii=False) for record in records])


async def run(core: Core, dataset: Dataset, profile: Profile) -> dict[str, Any]:
    """Means over the questions: the context, the baselines, and the share that the context saves against each."""
    contexts: list[int] = []
    counts: list[dict[str, int]] = []
    for conversation in dataset.conversations:
        for breadcrumb in conversation.breadcrumbs:
            await core.builder.remember(breadcrumb)
        await summarise(core, profile, conversation.breadcrumbs[-1])
        for question in conversation.questions:
            built = await core.builder.answer(await core.builder.facts(question.trigger), (profile,))
            contexts += [context.tokens for context in built.contexts]
        counts.append(_of_conversation(conversation))
    mean = statistics.fmean(contexts)
    means = {name: statistics.fmean(count[name] for count in counts) for name in counts[0]}
    return {
        "dataset": dataset.name,
        "profile": profile.consumer,
        "questions": len(contexts),
        "context": {"mean": round(mean, 1), "max": max(contexts)},
        "baselines": {name: {"mean": round(value, 1), "saved": round(1 - mean / value, 4)} for name, value in means.items()},
    }


def _of_conversation(conversation: Conversation) -> dict[str, int]:
    count = counter()
    bodies = [(crumb.schema, json.loads(crumb.body)) for crumb in conversation.breadcrumbs]
    texts = _baselines(bodies, list(map(_record, conversation.breadcrumbs)))
    return {name: count(text) for name, text in texts.items()}


def _record(crumb: Breadcrumb) -> str:
    """A breadcrumb as a record again."""
    record = {
        "id": crumb.id,
        "schema_name": crumb.schema,
        "version": crumb.version,
        "tags": crumb.tags,
        "context": json.loads(crumb.body),
        "created_at": crumb.created_at.isoformat(),
    }
    return json.dumps(record, ensure_ascii=False)


def _baselines(bodies: list[tuple[str, dict[str, Any]]], records: list[str]) -> dict[str, str]:
    messages = [(schema, body) for schema, body in bodies if schema in {"user.message.v1", "agent.response.v1"}][-LAST:]
    history = [
        {"role": _role(schema), "content": _text(body), "timestamp": body.get("timestamp", "")} for schema, body in messages
    ]
    context: list[dict[str, Any]] = [
        {"type": "tool_catalog", "content": body} for schema, body in bodies if schema == "tool.catalog.v1"
    ]
    context.append({"type": "chat_history", "messages": history})
    return {
        ALL_JSON: "[" + ",".join(records) + "]",
        LAST_JSON: json.dumps(context, ensure_ascii=False, indent=2),
        LAST_TEXT: "\n".join(f"{_role(schema).capitalize()}: {_text(body)}" for schema, body in messages),
    }


def _role(schema: str) -> str:
    return "user" if schema == "user.message.v1" else "assistant"


def _text(body: dict[str, Any]) -> str:
    return str(body.get("content") or body.get("message") or "")
