"""The formats by name: a page becomes messages once, each provider has its shape of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from builder.assemble.budget.ledger import Ledger
from builder.assemble.items.labels import CHAT_ROLES
from builder.assemble.items.writer import Item, Writer
from builder.domain.page_format import PageFormat
from builder.extras.chat_formats.messages import Message
from builder.extras.chat_formats.page_messages import PageMessages, chat_tokens
from builder.extras.chat_formats.picture_prices import anthropic_tokens, openai_tokens
from builder.extras.chat_formats.response_items import ResponseItem, response_items
from builder.extras.chat_formats.shapes import Fields, MessageAnthropic, MessageOpenAI, TextBlock, anthropic, openai
from builder.extras.chat_formats.words import message_words, page_call, result_words

Shape = Callable[[tuple[Message, ...]], Fields]


@dataclass(frozen=True, slots=True)
class ChatCopy:
    """See `builder.domain.page_format.PageCopy`."""

    messages: tuple[Message, ...]
    tokens: int
    shape: Shape

    def fields(self, *, images: bool = True) -> Fields:
        """See `PageCopy`."""
        return self.shape(self.messages if images else tuple(map(_without_images, self.messages)))


def _without_images(message: Message) -> Message:
    return replace(message, images=(), exchanges=tuple(replace(exchange, images=()) for exchange in message.exchanges))


def _copy(shape: Shape, ledger: Ledger) -> ChatCopy:
    chat = PageMessages(ledger).messages()
    return ChatCopy(chat, chat_tokens(chat, ledger.writer), shape)


def _extra_tokens(writer: Writer, item: Item) -> int:
    first, *results = item.fragments
    phrases, crumb = writer.rendering.phrases, first.breadcrumb
    if item.entry and item.entry.request:
        if writer.view.is_own(crumb):
            texts = [page_call(first, item.entry.request, writer).arguments]
            texts += (f"{result_words(result, phrases('result'))}\n" for result in results)
        else:
            texts = [f"{writer.labels.caller(crumb)}:\n", f"{item.text}\n"]
    elif crumb.role in CHAT_ROLES:
        label = writer.labels.of(crumb)
        texts = [f"{label}:\n", message_words(first, label)]
    else:
        return 0
    return sum(map(writer.rendering.page_tokens, texts)) - item.tokens


FORMATS: Mapping[str, PageFormat] = {
    "openai": PageFormat(
        copy=partial(_copy, openai),
        types={"messages": tuple[MessageOpenAI, ...]},
        extra_tokens=_extra_tokens,
        picture_tokens=openai_tokens,
    ),
    "anthropic": PageFormat(
        copy=partial(_copy, anthropic),
        types={"system": tuple[TextBlock, ...], "messages": tuple[MessageAnthropic, ...]},
        extra_tokens=_extra_tokens,
        picture_tokens=anthropic_tokens,
        has_pictures_of_results=True,
    ),
    "responses": PageFormat(
        copy=partial(_copy, response_items),
        types={"messages": tuple[ResponseItem, ...]},
        extra_tokens=_extra_tokens,
        picture_tokens=openai_tokens,
        has_pictures_of_results=True,
    ),
}
