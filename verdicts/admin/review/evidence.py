"""A rejected output as a reviewer sees it (C15): laid out, with the gate's findings."""

from dataclasses import dataclass, field

from audit.core.annotation import (
    JsonError,
    Line,
    Note,
    annotate,
    escape_invisible,
    find_json_error,
    notes_from,
)
from audit.core.parsing import parse
from audit.models import CrosscheckLog, unescape_evidence


@dataclass(frozen=True, slots=True)
class Evidence:
    notes: list[Note]  # on the output as a whole
    lines: list[Line] = field(default_factory=list)
    fault: JsonError | None = None
    raw: str = ""


def read_evidence(check: CrosscheckLog) -> Evidence | None:
    """None if the text is not stored, or was deleted after its retention."""
    if check.approved or check.evidence_purged_at:
        return None
    output = unescape_evidence(check.evidence)
    notes = notes_from(check.contributions)
    general = [note for note in notes if note.where == "output"]
    payload = parse(output)
    if payload is None:
        return Evidence(general, fault=find_json_error(output), raw=escape_invisible(output))
    return Evidence(general, lines=annotate(payload, notes), raw=escape_invisible(output))
