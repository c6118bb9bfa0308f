"""Calls and results in the vendors' parts: who runs them, arguments, outputs, the ids that pair them; thoughts before them."""

from collections.abc import Iterable
from typing import Any

from builder.domain.json_values import parse
from builder.wire.attachments import Fields, attachment_line
from builder.wire.parts import Call, Mark, Part, Result, Thought

Parts = tuple[Part, ...]

CODE = "code_execution"
"""The tool of Gemini's code, which has no name."""
DENIED = "the call was denied"
"""The result of a call that a person did not allow and gave no reason."""
_IDS = ("call_id", "tool_use_id", "toolUseId", "toolCallId", "tool_call_id", "id")
_TOOLS = ("name", "toolName", "tool_name", "tool")
_ARGUMENTS = (
    "arguments", "input", "args", "tool_kwargs", "parameters", "action", "actions", "operation", "code", "queries", "query",
    "prompt",
)  # fmt: skip
OUTPUTS = (
    "output", "content", "result", "results", "outputs", "response", "tool_return", "errorText", "error", "stdout", "logs",
    "info",
)  # fmt: skip
"""Fields of a result with what the tool returned."""
_OUTPUT_FIELDS = frozenset({"type", "value", "reason", "providerOptions"})
_OUTPUT_TYPES = ("text", "json", "content", "error-text", "error-json", "execution-denied")
"""Fields and types of Vercel's outputs."""
NAMED_CALLS = frozenset(
    {"tool_use", "function_call", "function.call", "tool_call", "tool-call", "function", "invalid_tool_call", "custom_tool_call"}
)
"""Types of calls that name their tool."""


def first_of(part: Fields, names: Iterable[str]) -> Any:
    """The first of these fields that it has."""
    return next((part[name] for name in names if part.get(name) is not None), None)


def read_arguments(value: Any) -> Any:
    """JSON of a call's arguments; a text that is none stays."""
    if not isinstance(value, str):
        return {} if value is None else value
    try:
        return parse(value) if value.strip() else {}
    except ValueError:
        return value


def _id(part: Fields) -> str:
    return str(first_of(part, _IDS) or "")


def client_call(part: Fields) -> Parts | None:
    """A call that whoever asked the model runs; its arguments are JSON, or a text where the tool takes one."""
    kind = str(part.get("type", ""))
    inner = next((part[name] for name in ("function", "custom") if isinstance(part.get(name), dict)), part)
    tool = first_of(inner, _TOOLS) or (kind.removesuffix("_call") if kind.endswith("_call") and kind not in NAMED_CALLS else "")
    if not isinstance(tool, str) or not tool:
        return None
    value = first_of(inner, _ARGUMENTS)
    item = str(part["id"]) if part.get("call_id") and part.get("id") else ""
    return (Call(tool, value if "custom" in kind else read_arguments(value), _id(part), item_id=item),)


def remote_call(part: Fields) -> Parts | None:
    """A call that the vendor's server runs, with its output where the part has it."""
    kind = str(part.get("type"))
    tool = first_of(part, _TOOLS) or kind.removesuffix("_call").removesuffix("_tool_use")
    outputs = {name: part[name] for name in OUTPUTS if part.get(name) is not None}
    arguments = read_arguments(first_of(part, [name for name in _ARGUMENTS if name not in outputs]))
    if isinstance(arguments, str):
        arguments = {next(name for name in _ARGUMENTS if part.get(name) == arguments): arguments}
    call = Call(str(tool), arguments, _id(part), is_remote=True)
    if not outputs and part.get("status") != "completed":
        return (call,)
    output = next(iter(outputs.values())) if len(outputs) == 1 else outputs
    return (call, Result(output or part.get("status"), call.id, call.tool, failed=bool(part.get("error"))))


def tool_result(part: Fields) -> Parts | None:
    """The output of a tool, with the id of its call."""
    return None if part.keys().isdisjoint(OUTPUTS) and not _id(part) else (result_of(part),)


def result_of(part: Fields) -> Result:
    """The output of a tool in any of its fields."""
    name = next((each for each in OUTPUTS if part.get(each) is not None), "")
    output, failed = part.get(name), name in {"error", "errorText"}
    if isinstance(output, dict) and output.keys() <= _OUTPUT_FIELDS and output.get("type") in _OUTPUT_TYPES:
        failed = failed or str(output["type"]).startswith(("error", "execution-denied"))
        output = output.get("value", output.get("reason", output["type"]))
    failed = failed or part.get("is_error") is True or part.get("isError") is True or part.get("status") == "error"
    failed = failed or (isinstance(output, dict) and str(output.get("type")).endswith("_error"))
    return Result(output, _id(part), str(first_of(part, _TOOLS) or ""), failed)


def ui_tool(part: Fields) -> Parts | None:
    """A tool part of Vercel's UI messages: the call with its state, and what came of it."""
    fields: Fields = part["toolInvocation"] if isinstance(part.get("toolInvocation"), dict) else part
    tool = first_of(fields, ("toolName", "tool_name")) or str(part.get("type")).removeprefix("tool-")
    call = Call(str(tool), read_arguments(first_of(fields, ("input", "args", "rawInput"))), _id(fields))
    if fields.get("errorText") is not None:
        return (call, Result(fields["errorText"], call.id, call.tool, failed=True))
    if fields.get("state") == "output-denied":
        approval = fields.get("approval")
        reason = approval.get("reason") if isinstance(approval, dict) else None
        return (call, Result(reason or DENIED, call.id, call.tool, failed=True))
    output = first_of(fields, ("output", "result"))
    is_over = output is not None or fields.get("state") in ("output-available", "result")
    return (call, Result(output, call.id, call.tool)) if is_over else (call,)


def code_call(program: Fields) -> Parts | None:
    """A program that Gemini runs."""
    arguments = {key: value for key, value in program.items() if key in {"code", "language"}}
    return (Call(CODE, arguments, _id(program), is_remote=True),) if arguments else None


def code_result(result: Fields) -> Parts:
    """The output of code that a vendor ran."""
    failed = str(result.get("outcome", "OUTCOME_OK")) not in {"OUTCOME_OK", "OUTCOME_UNSPECIFIED"}
    return (Result(result.get("output"), _id(result), CODE, failed),)


def function_response(response: Fields) -> Parts:
    """A result of Gemini."""
    output = response.get("response")
    failed = isinstance(output, dict) and output.keys() == {"error"}
    if isinstance(output, dict) and len(output) == 1 and output.keys() <= {"output", "result", "error"}:
        output = next(iter(output.values()))
    if isinstance(response.get("parts"), list) and response["parts"]:
        output = [*([] if output in (None, "", {}) else [output]), *response["parts"]]
    return (Result(output, _id(response), str(response.get("name") or ""), failed),)


def image_generation(part: Fields) -> Parts | None:
    """A picture that the vendor made."""
    picture = {"type": "image", "data": part["result"]} if isinstance(part.get("result"), str) else None
    prompt = {"input": {"prompt": part["revised_prompt"]}} if part.get("revised_prompt") else {}
    return remote_call({**part, **prompt, "result": picture})


def thought(part: Fields) -> Parts:
    """Its words; a mark where only the vendor can read them."""
    source = first_of(part, ("thinking", "reasoning", "text", "reasoningText", "content", "summary"))
    words = [_words_of_thought(source)]
    if part.get("content") and part.get("summary"):
        words.append(_words_of_thought(part["summary"]))
    return (Thought("\n".join(filter(None, words))),) if any(words) else (Mark(attachment_line(part)),)


def _words_of_thought(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _words_of_thought(first_of(value, ("text", "thinking", "reasoning", "summary")))
    return "\n".join(filter(None, map(_words_of_thought, value))) if isinstance(value, list) else ""
