"""The parts of an SVG that every picture shares: colours in light and dark, words, boxes. No scripts, no fonts of others."""

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

from builder.domain.errors import Rejected

LIGHT = {
    "back": "#ffffff", "paper": "#f6f8fa", "edge": "#d0d7de", "ink": "#1f2328", "faint": "#59636e",
    "one": "#0969da", "two": "#bc4c00", "three": "#1a7f37", "four": "#8250df", "five": "#bf3989", "six": "#6e7781",
}  # fmt: skip
DARK = {
    "back": "#0d1117", "paper": "#151b23", "edge": "#3d444d", "ink": "#f0f6fc", "faint": "#9198a1",
    "one": "#4493f8", "two": "#f0883e", "three": "#3fb950", "four": "#ab7df8", "five": "#db61a2", "six": "#848d97",
}  # fmt: skip
"""Name → colour; a picture has its own ground, because a page does not say whether it is dark."""
SERIES = ("one", "two", "three", "four", "five", "six")
_NO_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def picture(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """The file. title: what a screen reader says."""
    variables = [";".join(f"--{name}:{colour}" for name, colour in colours.items()) for colours in (LIGHT, DARK)]
    fills = "".join(f".{name}{{fill:var(--{name})}}.{name}-line{{stroke:var(--{name});fill:none}}" for name in LIGHT)
    style = (
        f"svg{{{variables[0]};font:12px system-ui,sans-serif}}@media(prefers-color-scheme:dark){{svg{{{variables[1]}}}}}"
        f"{fills}.mono{{font:10px ui-monospace,Menlo,Consolas,monospace;white-space:pre}}.head{{font-weight:600;font-size:14px}}"
    )
    ground, size = box(0, 0, width, height, "back"), f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
            f"<title>{_clean(title)}</title>",
            f"<style>{style}</style>",
            ground,
            *parts,
            "</svg>\n",
        )
    )


def write_picture(file: Path, text: str) -> None:
    """Raises `Rejected`."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise Rejected(f"{file} cannot be written: {error.strerror}; name another file") from error


def words(x: float, y: float, text: str, kind: str = "ink", anchor: str = "start") -> str:
    """A line of text on its base line. kind: classes of the style."""
    place = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{x:g}" y="{y:g}" class="{kind}"{place}>{_clean(text)}</text>'


def box(x: float, y: float, width: float, height: float, kind: str, radius: float = 0, name: str = "") -> str:
    """A rectangle. name: what a browser shows where the picture stands by itself."""
    corner = f' rx="{radius:g}"' if radius else ""
    inside = f"><title>{_clean(name)}</title></rect>" if name else "/>"
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"{corner}{inside}'


def dot(x: float, y: float, kind: str, name: str) -> str:
    """A point with a name, as a box has one."""
    return f'<circle cx="{x:g}" cy="{y:g}" r="4" class="{kind}"><title>{_clean(name)}</title></circle>'


def _clean(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))
