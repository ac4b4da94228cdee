"""A rejected output as a reviewer sees it (C15): laid out, with the gate's findings."""

from dataclasses import dataclass, field

from audit.core.marking import Fault, Line, Note, find_fault, lay_out, notes_of, visible
from audit.core.parsing import parse
from audit.models import CrosscheckLog, unescape_evidence


@dataclass(frozen=True, slots=True)
class Evidence:
    notes: list[Note]  # on the output as a whole
    lines: list[Line] = field(default_factory=list)
    fault: Fault | None = None
    raw: str = ""


def read_evidence(check: CrosscheckLog) -> Evidence | None:
    """None if the text is not stored, or was deleted after its retention."""
    if check.approved or check.evidence_purged_at:
        return None
    output = unescape_evidence(check.evidence)
    notes = notes_of(check.contributions)
    general = [note for note in notes if note.where == "output"]
    payload = parse(output)
    if payload is None:
        return Evidence(general, fault=find_fault(output), raw=visible(output))
    return Evidence(general, lines=lay_out(payload, notes), raw=visible(output))
