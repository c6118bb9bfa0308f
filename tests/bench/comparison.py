"""Figures of the default profile beside those of named alternatives, as README and `builder/docs/benchmarks.md` quote them."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PEERS: dict[str, Any] = json.loads((FOLDER / "peers.json").read_text("utf-8"))
"""Other systems, measured once; see `builder/docs/benchmarks.md`."""
BUDGETS = (500, 1000, 2000, 4000)
HALF = 0.5 + 1e-9
"""Added before digits are cut off; the rest is the error of a binary fraction."""
BEST, HYBRID, FUSION, VECTORS = (
    "MemMachine 0.4.0, sentence vectors and its BM25 reranker",
    "mem0 2.2.1, hybrid (Qdrant, BM25, spaCy lemmas)",
    "LlamaIndex 0.14.25, fusion of vectors and BM25",
    "vector search: LangChain, LlamaIndex, LangGraph, LanceDB, mem0 as installed",
)
"""The rows of the README: the best, two others that fuse vectors with words, and what is installed first."""
SHORT = {
    BEST: "MemMachine 0.4.0, reranked",
    HYBRID: "mem0 2.2.1, hybrid",
    FUSION: "LlamaIndex 0.14.25, fusion",
    VECTORS: "vectors: mem0, LangChain, LlamaIndex",
}
"""Their names in its table."""


def stored(name: str) -> dict[str, Any]:
    """A stored result."""
    result: dict[str, Any] = json.loads((FOLDER / "results" / f"{name}.json").read_text("utf-8"))
    return result


def readme_table() -> str:
    """Ours and others, all on the same conversations; of ours the tokens that were really used."""
    default, full, vectors = (stored(name) for name in ("recall-compare", "recall-compare-full", "vectors-compare"))
    ours = (("**default profile**", default), ("with `worth: null`", full))
    rows = [(name, *_all_budgets(each), _tokens(each)) for name, each in ours]
    rows += [("our vectors alone", *_all_budgets(vectors), _tokens(vectors))]
    rows += [(SHORT[name], *_peer(PEERS["peers"][name]), "≤ budget") for name in (BEST, HYBRID, FUSION, VECTORS)]
    heads = " | ".join(f"{budget:,}" for budget in BUDGETS)
    lines = [f"| any/all, % | {heads} | tokens used |", f"|{'---|' * 6}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    commands = ", ".join(f"`{each['command'].removeprefix('context-builder ')}`" for each in (default, full, vectors))
    assert len({each["date"] for each in (default, full, vectors)}) == 1
    return "\n".join([*lines, "", f"{commands}, {default['date']}; others: {PEERS['measured'].partition(',')[0]}", ""])


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
    first, last = sizes["700"], sizes["20000"]
    return {
        "invariants": f"{invariants['exceeded']} of {invariants['contexts']:,} random pages",
        "memory": f"{memory['resident_mb']:.0f} MB for a store of {memory['stored'] / 1e6:.0f} million messages (`bench memory`, "
        f"{stored('memory')['date']})",
        "latency": f"{first['event_to_context_p50_ms']:.0f} ms (median) from a message to its context in a session of 700 "
        f"messages, {last['event_to_context_p50_ms']:.0f} ms in one of 20,000",
        "days of speed": f"(`bench latency`, {stored('latency')['date']}, 2 cores)",
        "day of the invariants": f"(`bench invariants`, {stored('invariants')['date']})",
    }


def bridge() -> dict[str, str]:
    """Figures that stand in the text of `builder/docs/benchmarks.md`, by what they are of."""
    here = stored("vectors-compare")["figures"]["budgets"]["1000"]["evidence_any"]
    newest = stored("tokens-people")["figures"]["baselines"]["last 20 as text"]["evidence_all"]
    return {
        "their vector search": f"it has {percent(PEERS['peers'][VECTORS]['any'][1])} (any, 1,000 tokens) here",
        "our vector search": f"our own, with int8 weights, {percent(here)} on the same questions",
        "the newest messages": f"hold all of the evidence for {100 * newest:.1f} % of the questions",
    }


def _all_budgets(result: dict[str, Any]) -> list[str]:
    rows = (result["figures"]["budgets"][str(budget)] for budget in BUDGETS)
    return [_cell(row["evidence_any"], row["evidence_all"]) for row in rows]


def _tokens(result: dict[str, Any]) -> str:
    rows = (result["figures"]["budgets"][str(budget)] for budget in BUDGETS)
    return ", ".join(f"{row['tokens_mean']:,.0f}" for row in rows)


def _peer(shares: dict[str, list[float]]) -> list[str]:
    return [_cell(*pair) for pair in zip(shares["any"], shares["all"], strict=True)]


def _cell(share: float, whole: float) -> str:
    return f"{percent(share)}/{percent(whole)}".replace(" %", "")


def percent(share: float) -> str:
    """As prose writes it; a half is rounded up."""
    return f"{int(100 * share + HALF)} %"
