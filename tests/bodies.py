"""Bodies of breadcrumbs for tests."""

from typing import Any


def body_of(schema: str, text: str) -> dict[str, Any]:
    """What a sender would have put on the wire for this text."""
    match schema:
        case "tool.request.v1":
            return {"tool": "search", "input": {"query": text}}
        case "tool.response.v1":
            return {"tool": "search", "status": "success", "output": text}
        case "tool.error.v1":
            return {"tool_name": "search", "error_message": text}
        case "browser.page.context.v1" | "browser.tab.context.v1":
            return {"title": "Orders", "url": "https://example.org/orders", "content": {"mainText": text}}
        case _:
            return {"content": text}
