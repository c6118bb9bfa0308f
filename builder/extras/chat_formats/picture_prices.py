"""The tokens of a picture, by the formulas that the providers publish: OpenAI's tiles, Anthropic's pixels."""

from math import prod

from builder.assemble.items.rendering import Size

OPENAI_BASE, OPENAI_TILE, TILE = 85, 170, 512
OPENAI_LONG, OPENAI_SHORT = 2048, 768
"""Pixels to which the longer and then the shorter side are scaled down."""
ANTHROPIC_LONG, ANTHROPIC_PIXELS, ANTHROPIC_MOST = 1568, 750, 1600
"""Pixels of the longer side, pixels of a token, most tokens."""
OPENAI_UNKNOWN, ANTHROPIC_UNKNOWN = OPENAI_BASE + 8 * OPENAI_TILE, ANTHROPIC_MOST
"""A picture of unknown size: as much as one can cost."""


def openai_tokens(size: Size) -> int:
    """By tiles."""
    if not all(size):
        return OPENAI_UNKNOWN
    scale = min(1.0, OPENAI_LONG / max(size))
    scale *= min(1.0, OPENAI_SHORT / (scale * min(size)))
    return OPENAI_BASE + OPENAI_TILE * prod(max(-(-int(scale * side) // TILE), 1) for side in size)


def anthropic_tokens(size: Size) -> int:
    """By pixels."""
    width, height = size
    if not width or not height:
        return ANTHROPIC_UNKNOWN
    scale = min(1.0, ANTHROPIC_LONG / max(size))
    return min(int(scale * width) * int(scale * height) // ANTHROPIC_PIXELS + 1, ANTHROPIC_MOST)
