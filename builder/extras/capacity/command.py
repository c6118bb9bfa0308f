"""`context-builder plan`."""

from typing import Annotated

import typer

from builder.app.console import AsJson, show, table

KILO, PREFIXES = 1_000, ("", "k", "M", "G", "T", "P")
NOTE = (
    "Volumes have half as much again; workers are half busy at the peak. Rates are of the machine that is named: compare it with "
    "yours by `context-builder bench load`."
)


def plan(
    messages_per_day: Annotated[int, typer.Option(min=1, help="Messages of all kinds.")] = 100_000,
    days: Annotated[int, typer.Option(min=1, help="Days that messages are kept.")] = 365,
    text_bytes: Annotated[int, typer.Option("--bytes", min=1, help="Mean bytes of a message's text.")] = 340,
    user_share: Annotated[float, typer.Option(min=0, max=1, help="Share of messages that trigger a context.")] = 0.3,
    sessions: Annotated[int, typer.Option(min=1, help="Sessions at work at the same time.")] = 500,
    session_messages: Annotated[int, typer.Option(min=1, help="Messages that such a session holds.")] = 100,
    replicas: Annotated[int, typer.Option(min=1, max=5, help="Replicas of the streams.")] = 3,
    peak: Annotated[float, typer.Option(min=1, help="The busiest time, divided by the day's mean.")] = 3,
    *,
    as_json: AsJson = False,
) -> None:
    """Bytes, partitions, workers and memory for these numbers, from measured constants whose source is shown."""
    from builder.extras.capacity.figures import Expected, report

    expected = Expected(
        messages_per_day=messages_per_day,
        days_kept=days,
        sessions=sessions,
        session_messages=session_messages,
        text_bytes=text_bytes,
        replicas=replicas,
        user_share=user_share,
        peak=peak,
    )
    result = report(expected)
    figures = [(each["name"], amount(each["value"], each["unit"]), each["constants"]) for each in result["figures"]]
    sources = list(dict.fromkeys(each["source"] for each in result["constants"].values()))
    constants = [
        (name, f"{each['value']:,}", each["unit"], f"[{sources.index(each['source']) + 1}]")
        for name, each in result["constants"].items()
    ]
    text = table(("needed", "", "made of"), figures, frozenset({""})) + "\n"
    text += table(("constant", "value", "unit", "by"), constants, frozenset({"value"}))
    text += "".join(f"[{number}] {source}\n" for number, source in enumerate(sources, 1))
    show(result, as_json, text=text, note=NOTE)


def amount(value: float, unit: str) -> str:
    """For people, with three digits of bytes."""
    if not unit.startswith("bytes"):
        return f"{value:,.{0 if value >= KILO or value == int(value) else 1}f} {unit}"
    power = max((power for power in range(len(PREFIXES)) if value >= KILO**power), default=0)
    return f"{value / KILO**power:.3g} {PREFIXES[power]}B{unit.removeprefix('bytes')}"
