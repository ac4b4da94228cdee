"""The text of the model's answer, valid or corrupted as a fault rule says.

At temperature 0 the text is a function of prompt, seed and model, byte for
byte; above it every answer is random.
"""

import json
import secrets
from collections.abc import Callable
from hashlib import sha256
from random import Random
from typing import Any, Final

from sandbox.faults import Rule
from sandbox.gemini.request_parsing import GenerateRequest
from sandbox.gemini.verdict_writer import ALTERNATIVE_LABELS, choose_label, write_verdict


def write_text(parsed: GenerateRequest, *, rule: Rule | None, varied: bool) -> str:
    """The text of the answer: a JSON verdict, unless the rule corrupts it."""
    rng = _random(parsed)
    label = choose_label(parsed.query, rng)
    if rule and rule.fault == "verdict" and rule.label:
        label = rule.label
    elif varied:
        # Simulates another model replica: a different verdict and text, also deterministic.
        rng = _random(parsed, "replica")
        label = rng.choice(ALTERNATIVE_LABELS[label])
    verdict = write_verdict(parsed, label, rng)
    if rule and rule.fault in _CORRUPTIONS:
        if rule.mark:  # first, so that truncation keeps it
            verdict = {"mark": rule.mark, **verdict}
        return _CORRUPTIONS[rule.fault](verdict, rule)
    return _as_text(verdict)


def _random(parsed: GenerateRequest, *salt: str) -> Random:
    nonce = secrets.token_hex(16) if parsed.temperature > 0 else ""
    key = json.dumps([parsed.prompt, parsed.seed, parsed.model, nonce, *salt])
    seed = sha256(key.encode("utf-8", "surrogatepass")).digest()
    return Random(int.from_bytes(seed))  # noqa: S311 - deterministic on purpose


def _as_text(verdict: dict[str, Any]) -> str:
    return json.dumps(verdict, ensure_ascii=False)


def _malformed(verdict: dict[str, Any], rule: Rule) -> str:
    return f"Here is my verdict:\n{verdict!r}\nI hope this helps!"


def _truncated(verdict: dict[str, Any], rule: Rule) -> str:
    text = _as_text(verdict)
    return text[: len(text) * 2 // 3]


def _contradictory(verdict: dict[str, Any], rule: Rule) -> str:
    """GREEN overall, every dimension RED, all texts empty."""
    corrupted: dict[str, Any] = {"verdict": "GREEN", "summary": ""}
    if "mark" in verdict:
        corrupted["mark"] = verdict["mark"]
    if "breakdown" in verdict:
        corrupted["breakdown"] = {
            name: {"verdict": "RED", "analysis": ""} for name in verdict["breakdown"]
        }
    if "strategy" in verdict:
        corrupted["strategy"] = {"next_step": "", "alternative": "", "tests": []}
    return _as_text(corrupted)


def _missing_field(verdict: dict[str, Any], rule: Rule) -> str:
    verdict.pop(rule.field or "summary", None)
    return _as_text(verdict)


# These faults corrupt the text only; the response around it stays valid.
_CORRUPTIONS: Final[dict[str, Callable[[dict[str, Any], Rule], str]]] = {
    "malformed": _malformed,
    "truncated": _truncated,
    "max_tokens": _truncated,
    "contradictory": _contradictory,
    "missing_field": _missing_field,
}
