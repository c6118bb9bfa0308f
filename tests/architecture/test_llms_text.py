"""`builder/docs/llms.txt`: the pages for language models that read documentation. UPDATE_DOCS=1 writes it."""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "builder" / "docs"
FILE = DOCS / "llms.txt"
README = (ROOT / "README.md").read_text("utf-8")
READER = re.compile(r"^- (You [^:]+): (.*)$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(builder/docs/([\w/-]+\.md)[^)]*\)")


def plain(markdown: str) -> str:
    """Without links and line ends."""
    return " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", markdown).split())


def entry(page: Path) -> str:
    """Its title, and its first sentence or two."""
    text = re.sub(r"<!--.*?-->", "", page.read_text("utf-8"), flags=re.DOTALL)
    title, _, rest = text.partition("\n")
    paragraph = next(
        part for part in rest.split("\n\n") if part.strip() and not part.lstrip().startswith(("#", "|", "```", "<", "!", "-"))
    )
    sentences = re.findall(r"[^.!?]+(?:[.!?](?!\s|$)[^.!?]*)*[.!?:]?", plain(paragraph))
    begin = "".join(sentences[:2]).strip().rstrip(":")
    return f"- [{plain(title.removeprefix('# '))}]({page.relative_to(DOCS).as_posix()}): {begin}"


def pages() -> dict[str, list[Path]]:
    """Reader → the pages that the README names for them, each once."""
    seen: set[Path] = set()
    groups: dict[str, list[Path]] = {}
    for reader, links in READER.findall(README):
        groups[reader] = [page for page in map(DOCS.joinpath, LINK.findall(links)) if page not in seen]
        seen |= {*groups[reader]}
    groups["Optional"] = [page for page in sorted(DOCS.rglob("*.md")) if page not in seen]
    return groups


def test_it_names_every_page_for_those_whom_the_readme_names() -> None:
    head = "\n".join(("# Context-builder", "", f"> {plain(README.split(chr(10) * 2)[1])}", ""))
    lines = [line for reader, files in pages().items() for line in (f"\n## {reader}\n", *map(entry, files))]
    text = head + "\n".join(lines) + "\n"
    if os.environ.get("UPDATE_DOCS"):
        FILE.write_text(text, "utf-8")
    assert text == FILE.read_text("utf-8")
    assert {DOCS / name for name in re.findall(r"\]\(([^)]+)\)", text)} == {*DOCS.rglob("*.md")}
