"""Triggers without an answer in a conversation: questions of other conversations, and small talk."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files

from builder.bench.data.datasets import Conversation, Dataset
from builder.domain.breadcrumb import Breadcrumb

OWN_SHARE = 0.7
"""Of the questions, those of the conversation's own data set, which are the harder ones: same themes, same manner."""
LEARNED_MESSAGES = 40
"""Ordinary messages of a language that a fit may see; those behind them are set aside."""
SMALL_TALK = (
    "thanks!",
    "ok",
    "Hello",
    "Good morning",
    "thank you so much",
    "sounds good",
    "haha nice",
    "cool, see you later",
    "no problem",
    "Thanks, Caroline!",
    "Hi, how are you?",
    "Danke, alles klar!",
    "Muchas gracias, perfecto",
)


def foreign(conversation: Conversation, datasets: Sequence[Dataset], number: int) -> Iterator[Breadcrumb]:
    """At most about `number` questions of other conversations, asked here; evenly from all of them, none twice."""
    own = [dataset for dataset in datasets if conversation in dataset.conversations]
    others = [dataset for dataset in datasets if dataset not in own]
    for group, share in ((own, OWN_SHARE if others else 1.0), (others, 1 - OWN_SHARE)):
        questions = [
            (f"{other.session}-{question.id}", question.trigger.text)
            for dataset in group
            for other in dataset.conversations
            if other != conversation
            for question in other.questions
        ]
        count = max(round(share * number), 1)
        for name, text in questions[:: max(-(-len(questions) // count), 1)]:
            yield _trigger(conversation, f"foreign-{name}", text)


def ordinary(conversation: Conversation, *, held_out: bool) -> Iterator[Breadcrumb]:
    """Messages that ask for nothing old, in five languages, said here. held_out: those that no fit has seen."""
    data = json.loads((files("builder.bench.data") / "ordinary.json").read_text("utf-8"))
    for message in data["messages"]:
        if (int(message["id"].partition("-")[2]) > LEARNED_MESSAGES) == held_out:
            yield _trigger(conversation, f"ordinary-{message['id']}", message["text"])


def small_talk(conversation: Conversation) -> Iterator[Breadcrumb]:
    """Thanks and greetings, said here."""
    return (_trigger(conversation, f"small-talk-{number}", text) for number, text in enumerate(SMALL_TALK))


def _trigger(conversation: Conversation, name: str, text: str) -> Breadcrumb:
    return replace(conversation.questions[0].trigger, id=name, text=text, body=json.dumps({"content": text}))
