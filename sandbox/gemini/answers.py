"""The model's answer to a request, whole or spoiled to order.

At temperature 0 the text follows from prompt, seed and model, byte for byte;
above it no two draws are the same.
"""

import json
import secrets
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any, Final

from sandbox.faults import Rule
from sandbox.gemini.author import NEIGHBOURS, choose_label, write_verdict
from sandbox.gemini.reading import Ask

# Spoils the text; everything around it looks as it always does.
TEXT_FAULTS: Final = ("malformed", "truncated", "contradictory", "missing_field", "max_tokens")


def write_text(ask: Ask, *, rule: Rule | None, varied: bool) -> str:
    """The text of the answer: a JSON verdict unless the rule spoils it."""
    draw = _draw(ask)
    label = choose_label(ask.query, draw)
    if rule and rule.fault == "verdict" and rule.label:
        label = rule.label
    elif varied:
        # Another replica: another verdict and other words, and just as repeatable.
        draw = _draw(ask, "replica")
        label = draw.choice(NEIGHBOURS[label])
    verdict = write_verdict(ask, label, draw)
    if rule and rule.fault in _SPOIL:
        if rule.mark:  # first, so that whatever is cut off leaves it in
            verdict = {"mark": rule.mark, **verdict}
        return _SPOIL[rule.fault](verdict, rule)
    return _as_text(verdict)


def _draw(ask: Ask, *salt: str) -> Random:
    chance = secrets.token_hex(16) if ask.temperature > 0 else ""
    key = json.dumps([ask.prompt, ask.seed, ask.model, chance, *salt])
    seed = sha256(key.encode("utf-8", "surrogatepass")).digest()
    return Random(int.from_bytes(seed))  # noqa: S311 - repeatable on purpose


def _as_text(verdict: dict[str, Any]) -> str:
    return json.dumps(verdict, ensure_ascii=False)


def _malformed(verdict: dict[str, Any], rule: Rule) -> str:
    return f"Here is my verdict:\n{verdict!r}\nI hope this helps!"


def _truncated(verdict: dict[str, Any], rule: Rule) -> str:
    text = _as_text(verdict)
    return text[: len(text) * 2 // 3]


def _contradictory(verdict: dict[str, Any], rule: Rule) -> str:
    """GREEN over nothing but unexplained RED, and no word of reason."""
    spoiled: dict[str, Any] = {"verdict": "GREEN", "summary": ""}
    if "mark" in verdict:
        spoiled["mark"] = verdict["mark"]
    if "breakdown" in verdict:
        spoiled["breakdown"] = {
            name: {"verdict": "RED", "analysis": ""} for name in verdict["breakdown"]
        }
    if "strategy" in verdict:
        spoiled["strategy"] = {"next_step": "", "alternative": "", "tests": []}
    return _as_text(spoiled)


def _missing_field(verdict: dict[str, Any], rule: Rule) -> str:
    verdict.pop(rule.field or "summary", None)
    return _as_text(verdict)


_SPOIL: Final[dict[str, Callable[[dict[str, Any], Rule], str]]] = {
    "malformed": _malformed,
    "truncated": _truncated,
    "max_tokens": _truncated,
    "contradictory": _contradictory,
    "missing_field": _missing_field,
}
