"""What people made of the gate's rejections: a labelled set to calibrate it by."""

from collections.abc import Iterator
from typing import NamedTuple

from audit.models import unescape_evidence
from verdicts.models import Case

Outcome = Case.Outcome


class Labelled(NamedTuple):
    tier: str
    output: str
    should_pass: bool


def labelled() -> Iterator[Labelled]:
    """Each rejected output that a person has judged, oldest first, while its text is kept."""
    judged = Case.objects.filter(
        kind=Case.Kind.REJECTED,
        outcome__in=[Outcome.CORRECT, Outcome.FALSE],
        crosscheck__evidence_purged_at=None,
    ).select_related("crosscheck")
    for case in judged.order_by("closed_at", "pk").iterator():
        check = case.crosscheck
        if check:
            output = unescape_evidence(check.evidence)
            yield Labelled(check.tier, output, case.outcome == Outcome.FALSE)
