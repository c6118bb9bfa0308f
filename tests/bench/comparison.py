"""Figures of the default profile beside those of named alternatives, as README and `builder/docs/benchmarks.md` quote them."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PEERS: dict[str, Any] = json.loads((FOLDER / "peers.json").read_text("utf-8"))
"""Other systems, measured once on other conversations than ours; see `builder/docs/benchmarks.md`."""
BUDGETS = (500, 1000, 2000, 4000)
OURS, THEIRS = "0 to 2", "3 to 6"
"""Conversations of LoCoMo."""
HALF = 0.5 + 1e-9
"""Added before digits are cut off; the rest is the error of a binary fraction."""
BEST, HYBRID, VECTORS, NEWEST = (
    "MemMachine 0.4.0, sentence vectors and its BM25 reranker",
    "mem0 2.2.1, hybrid (Qdrant, BM25, spaCy lemmas)",
    "vector search: LangChain, LlamaIndex, LangGraph, LanceDB, mem0 as installed",
    "LangChain `trim_messages`, exact counter",
)
"""The rows of the README: the best, what is installed first, and what most agents do."""


def stored(name: str) -> dict[str, Any]:
    """A stored result."""
    result: dict[str, Any] = json.loads((FOLDER / "results" / f"{name}.json").read_text("utf-8"))
    return result


def readme_table() -> str:
    """At most seven rows: ours and what the same conversations give by other means, then others on other conversations."""
    default, vectors, tokens = (stored(name) for name in ("recall-people", "vectors-people", "tokens-people"))
    newest = tokens["figures"]["baselines"]["last 20 as text"]
    rows = [
        ("**context-builder, default profile**", *_budgets(default), OURS),
        ("vector search alone, same model", *_budgets(vectors), OURS),
        (f"last 20 messages as text, {newest['tokens_mean']:.0f} tokens", *[_shares(newest)] * 2, OURS),
        *((name, *_peer(PEERS["peers"][name]), THEIRS) for name in (BEST, HYBRID, VECTORS, NEWEST)),
    ]
    lines = ["| | 1,000 tokens: any / all | 4,000 tokens: any / all | LoCoMo conversations |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    commands = " · ".join(f"`{each['command']}` ({each['date']})" for each in (default, vectors, tokens))
    return "\n".join([*lines, "", f"{commands} · others: {PEERS['measured'].partition(',')[0]}", ""])


def peers_table() -> str:
    """All peers at all budgets."""
    heads = [f"{budget:,} {kind}" for kind in ("any", "all") for budget in BUDGETS]
    lines = [f"| system | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for name, shares in PEERS["peers"].items():
        lines.append(f"| {name} | {' | '.join(f'{100 * share:.1f} %' for share in (*shares['any'], *shares['all']))} |")
    return "\n".join(["", *lines, "", ""])


def sentences() -> dict[str, str]:
    """Figures that stand in the text of the README, by the result that they come from."""
    invariants, memory = stored("invariants")["figures"], stored("memory")["figures"]
    sizes = stored("latency")["figures"]["sizes"]
    user, whole = (stored(name)["figures"]["budgets"]["1000"]["evidence_any"] for name in ("recall-people-user", "recall-people"))
    first, last = sizes["700"], sizes["100000"]
    return {
        "invariants": f"{invariants['exceeded']} of {invariants['contexts']:,} random pages",
        "memory": f"{memory['resident_mb']:.0f} MB for a store of {memory['stored'] / 1e6:.0f} million messages (`bench memory`, "
        f"{stored('memory')['date']})",
        "latency": f"{first['event_to_context_p50_ms']:.0f} ms (median) from a message to its context in a session of 700 "
        f"messages, {last['event_to_context_p50_ms']:.0f} ms in one of 100,000",
        "recall-people-user": f"{percent(user)} (any, 1,000 tokens) instead of {percent(whole)}",
        "days of speed": f"(`bench latency`, {stored('latency')['date']}, 2 cores)",
        "day of the invariants": f"(`bench invariants`, {stored('invariants')['date']})",
        "day of the person": f"(`bench recall --scope user`, {stored('recall-people-user')['date']})",
    }


def bridge() -> dict[str, str]:
    """Figures that stand in the text of `builder/docs/benchmarks.md`, by what they are of."""
    here = stored("vectors-people")["figures"]["budgets"]["1000"]["evidence_any"]
    newest = stored("tokens-people")["figures"]["baselines"]["last 20 as text"]["evidence_all"]
    return {
        "their vector search": f"it has {percent(PEERS['peers'][VECTORS]['any'][1])} (any, 1,000 tokens) here",
        "our vector search": f"[{percent(here)} there]",
        "the newest messages": f"hold all of the evidence for {100 * newest:.1f} % of the questions",
    }


def _budgets(result: dict[str, Any]) -> tuple[str, str]:
    small, large = (_shares(result["figures"]["budgets"][budget]) for budget in ("1000", "4000"))
    return small, large


def _peer(shares: dict[str, list[float]]) -> tuple[str, str]:
    small, large = (f"{percent(shares['any'][place])} / {percent(shares['all'][place])}" for place in (1, 3))
    return small, large


def _shares(row: dict[str, float]) -> str:
    return f"{percent(row['evidence_any'])} / {percent(row['evidence_all'])}"


def percent(share: float) -> str:
    """As prose writes it; a half is rounded up."""
    return f"{int(100 * share + HALF)} %"
