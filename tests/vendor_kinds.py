"""The kinds of content parts that are read, each with an example: the table of `docs/messages.md` is made from it."""

from dataclasses import dataclass
from typing import Any

BECOMES = {
    "Text": "words",
    "Call": "a call",
    "Result": "a result",
    "File": "a line: kind, name, type, size",
    "Thought": "words after `[thought]`",
    "Data": "words, a line a field",
    "Mark": "nothing, or its name where nothing else is said",
    "Unread": "a line: kind and size; counted",
}
"""Part → what becomes of it."""
_IMAGE = "iVBORw0KGgoAAAANSUhEUg=="


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of part."""

    vendor: str
    name: str
    """Its type, or the key that it is known by."""
    parts: tuple[str, ...]
    """What it is read as, by the keys of BECOMES."""
    example: dict[str, Any]


def _kind(vendor: str, name: str, parts: str, /, **fields: Any) -> Kind:
    return Kind(vendor, name, tuple(parts.split()), {"type": name, **fields})


def _key(vendor: str, name: str, parts: str, value: Any) -> Kind:
    return Kind(vendor, name, tuple(parts.split()), {name: value})


OPENAI, RESPONSES, ANTHROPIC, GEMINI = "OpenAI chat", "OpenAI Responses", "Anthropic", "Gemini"
VERCEL, BEDROCK, MISTRAL, LANGCHAIN, LLAMA_INDEX, MCP = "Vercel", "Bedrock", "Mistral", "LangChain", "LlamaIndex", "MCP"
VENDOR_KINDS = (
    _kind(OPENAI, "text", "Text", text="The kiln is hot."),
    _kind(OPENAI, "image_url", "File", image_url={"url": f"data:image/png;base64,{_IMAGE}"}),
    _kind(OPENAI, "input_audio", "File", input_audio={"data": _IMAGE, "format": "wav"}),
    _kind(OPENAI, "file", "File", file={"filename": "glaze.pdf", "file_data": f"data:application/pdf;base64,{_IMAGE}"}),
    _kind(OPENAI, "refusal", "Text", refusal="No acid bath."),
    _kind(OPENAI, "audio", "Text", audio={"id": "a1", "transcript": "The kiln is hot."}),
    _kind(OPENAI, "function", "Call", id="c1", function={"name": "weigh", "arguments": "{}"}),
    _kind(OPENAI, "custom", "Call", id="c1", custom={"name": "patch", "input": "x"}),
    _kind("Telegram", "bold", "Text", text="Mia"),
    _kind(RESPONSES, "input_text", "Text", text="The kiln is hot."),
    _kind(RESPONSES, "output_text", "Text", text="The kiln is hot.", annotations=[]),
    _kind(RESPONSES, "input_image", "File", image_url="https://img.example/bowl.png"),
    _kind(RESPONSES, "input_file", "File", file_id="file-7"),
    _kind(RESPONSES, "reasoning", "Thought", summary=[{"type": "summary_text", "text": "Clay first."}]),
    _kind(RESPONSES, "function_call", "Call", call_id="c1", name="weigh", arguments="{}"),
    _kind(RESPONSES, "function_call_output", "Result", call_id="c1", output="12 kg"),
    _kind(RESPONSES, "custom_tool_call", "Call", call_id="c1", name="patch", input="x"),
    _kind(RESPONSES, "custom_tool_call_output", "Result", call_id="c1", output="patched"),
    _kind(RESPONSES, "local_shell_call", "Call", call_id="c1", action={"command": ["ls"]}),
    _kind(RESPONSES, "shell_call", "Call", call_id="c1", action={"commands": ["ls"]}),
    _kind(RESPONSES, "apply_patch_call", "Call", call_id="c1", operation={"path": "a.py"}),
    _kind(RESPONSES, "computer_call", "Call", call_id="c1", action={"type": "click"}),
    _kind(RESPONSES, "computer_call_output", "Result", call_id="c1", output={"image_url": "https://img.example/s.png"}),
    _kind(RESPONSES, "web_search_call", "Call Result", id="w1", status="completed", action={"query": "cone six"}),
    _kind(RESPONSES, "code_interpreter_call", "Call Result", id="k1", code="print(1)", outputs=[{"logs": "1"}]),
    _kind(RESPONSES, "mcp_call", "Call Result", id="m1", name="lookup", arguments="{}", output="in stock"),
    _kind(RESPONSES, "mcp_approval_request", "Data", id="a1", name="lookup", arguments="{}"),
    _kind(RESPONSES, "mcp_approval_response", "Mark", id="a1", approve=True),
    _kind(RESPONSES, "mcp_list_tools", "Mark", id="m1", tools=[]),
    _kind(RESPONSES, "item_reference", "Mark", id="i1"),
    _kind(RESPONSES, "image_generation_call", "Call Result", id="g1", status="completed", result=_IMAGE),
    _kind(ANTHROPIC, "image", "File", source={"type": "base64", "media_type": "image/png", "data": _IMAGE}),
    _kind(ANTHROPIC, "document", "Data Text", title="Log", source={"type": "text", "data": "It cracked."}),
    _kind(ANTHROPIC, "tool_use", "Call", id="t1", name="measure", input={}),
    _kind(ANTHROPIC, "tool_result", "Result", tool_use_id="t1", content="14 cm"),
    _kind(ANTHROPIC, "thinking", "Thought", thinking="A dry rim."),
    _kind(ANTHROPIC, "redacted_thinking", "Mark", data="EqQBCgI"),
    _kind(ANTHROPIC, "server_tool_use", "Call", id="s1", name="web_search", input={}),
    _kind(ANTHROPIC, "mcp_tool_use", "Call", id="s1", name="stock", input={}),
    _kind(ANTHROPIC, "web_search_tool_result", "Result", tool_use_id="s1", content=[{"title": "Celadon"}]),
    _kind(ANTHROPIC, "web_search_result", "File", title="Celadon", url="https://pots.example"),
    _kind(ANTHROPIC, "search_result", "Data Text", title="Bisque", content=[{"type": "text", "text": "Cone 04."}]),
    _key(GEMINI, "text", "Text", "The kiln is hot."),
    Kind(GEMINI, "text with thought", ("Thought",), {"text": "A dry rim.", "thought": True}),
    _key(GEMINI, "thoughtSignature", "Mark", "EqQBCgI"),
    _key(GEMINI, "thought_signature", "Mark", "EqQBCgI"),
    _key(GEMINI, "inlineData", "File", {"mimeType": "image/png", "data": _IMAGE}),
    _key(GEMINI, "fileData", "File", {"mimeType": "video/mp4", "fileUri": "https://files.example/a.mp4"}),
    _key(GEMINI, "functionCall", "Call", {"name": "heat", "args": {}}),
    _key(GEMINI, "functionResponse", "Result", {"name": "heat", "response": {"result": "980"}}),
    _key(GEMINI, "executableCode", "Call", {"language": "PYTHON", "code": "print(1)"}),
    _key(GEMINI, "codeExecutionResult", "Result", {"outcome": "OUTCOME_OK", "output": "1"}),
    _kind(VERCEL, "tool-call", "Call", toolCallId="v1", toolName="price", input={}),
    _kind(VERCEL, "tool-result", "Result", toolCallId="v1", toolName="price", output={"type": "text", "value": "18"}),
    _kind(VERCEL, "tool-price", "Call Result", toolCallId="v1", state="output-available", input={}, output="18"),
    _kind(VERCEL, "dynamic-tool", "Call", toolCallId="v1", toolName="price", state="input-available", input={}),
    _kind(
        VERCEL, "tool-invocation", "Call Result", toolInvocation={"toolCallId": "v1", "toolName": "sum", "args": {}, "result": 1}
    ),
    _kind(VERCEL, "source-url", "File", url="https://pots.example", title="Raku"),
    _kind(VERCEL, "source-document", "File", title="Safety sheet", filename="msds.pdf"),
    _kind(VERCEL, "data-weather", "Data", data={"city": "Oslo"}),
    _kind(VERCEL, "step-start", "Mark"),
    _kind(VERCEL, "tool-approval-request", "Mark", toolCallId="v1"),
    _kind(VERCEL, "tool-approval-response", "Mark", toolCallId="v1", approved=True),
    _key(BEDROCK, "toolUse", "Call", {"toolUseId": "b1", "name": "weigh", "input": {}}),
    _key(BEDROCK, "toolResult", "Result", {"toolUseId": "b1", "content": [{"text": "12 kg"}]}),
    _key(BEDROCK, "cachePoint", "Mark", {"type": "default"}),
    _key(BEDROCK, "reasoningContent", "Thought", {"reasoningText": {"text": "Clay first."}}),
    _key(BEDROCK, "citationsContent", "Text", {"content": [{"text": "It is hot."}], "citations": []}),
    _key(BEDROCK, "guardContent", "Text", {"text": {"text": "Is it hot?"}}),
    _key(BEDROCK, "json", "Data", {"euro": 19}),
    _key(BEDROCK, "image", "File", {"format": "png", "source": {"bytes": _IMAGE}}),
    _key(BEDROCK, "document", "Data Text", {"format": "txt", "name": "log", "source": {"text": "It cracked."}}),
    _kind(MISTRAL, "function.call", "Call", tool_call_id="c1", name="weigh", arguments="{}"),
    _kind(MISTRAL, "function.result", "Result", tool_call_id="c1", result="12 kg"),
    _kind(MISTRAL, "tool.execution", "Call Result", id="t1", name="web_search", arguments="{}", info={"hits": 2}),
    _kind(MISTRAL, "reference", "", reference_ids=[1]),
    _kind(MISTRAL, "tool_reference", "Text", tool="web_search", title="Celadon", url="https://pots.example/celadon"),
    _kind(ANTHROPIC, "compaction", "Text", content="The kiln was moved."),
    _kind(LANGCHAIN, "text-plain", "Text", text="The kiln is hot.", mime_type="text/plain"),
    _kind(LANGCHAIN, "tool_call", "Call", id="l1", name="weigh", args={}),
    _kind(LANGCHAIN, "invalid_tool_call", "Call", id="l1", name="weigh", args="{"),
    _kind(LLAMA_INDEX, "citable", "Data Text", title="Doc", content=[{"block_type": "text", "text": "Cone 04."}]),
    _kind(LLAMA_INDEX, "video", "File", url="https://files.example/a.mp4"),
    _kind(MCP, "resource", "Data Text", resource={"uri": "file:///log", "text": "It cracked."}),
    _kind(MCP, "resource_link", "File", uri="file:///plan.md", name="plan.md"),
)


def table() -> str:
    """As Markdown: a row for each kind."""
    rows = ["| vendor | part | becomes |", "|---|---|---|"]
    for kind in VENDOR_KINDS:
        becomes = ", ".join(dict.fromkeys(BECOMES[part] for part in kind.parts))
        rows.append(f"| {kind.vendor} | `{kind.name}` | {becomes or 'nothing'} |")
    return "\n".join(rows)
