"""The emailed original: the stored verdict, else its log line (R19), else UNKNOWN (R11)."""

from dataclasses import dataclass
from typing import Any

from audit.core.divergence import Provenance
from audit.core.vocabulary import LABELS, UNKNOWN
from audit.log.reader import find_original
from audit.models import ModelCall
from verdicts.core.request_config import canonical_config
from verdicts.models import Order, Verdict


@dataclass(frozen=True, slots=True)
class Original:
    label: str
    source: str  # one of DivergenceEvent.SOURCES
    payload: dict[str, Any] | None = None
    provenance: Provenance | None = None


def recover(order: Order) -> Original:
    """May read the whole log file: not inside a request."""
    stored = Verdict.original_of(order)
    if stored:
        return Original(stored.label, "verdict", stored.payload, provenance(stored.call))
    line = find_original(order.session_id or "")
    if line and line.get("verdict_label") in LABELS:
        return Original(line["verdict_label"], "log")
    return Original(UNKNOWN, "none")


def provenance(call: ModelCall | None) -> Provenance | None:
    """The inputs of a verdict; None where it was posted by a client."""
    if call is None:
        return None
    return Provenance(
        call.prompt_sha256, canonical_config(call.sent), call.model, call.model_version
    )


def delivered_seed(original: Verdict | None) -> int | None:
    """The seed that the original was sent with (R15)."""
    seed = original.call.sent.get("seed") if original and original.call else None
    return seed if type(seed) is int else None
