"""Rejected outputs with the decision of staff: a labelled data set to calibrate the gate."""

from collections.abc import Iterator
from typing import NamedTuple

from audit.models import unescape_evidence
from verdicts.models import Case

Outcome = Case.Outcome


class ReviewedOutput(NamedTuple):
    tier: str
    output: str
    should_pass: bool


def reviewed_outputs() -> Iterator[ReviewedOutput]:
    """Each rejected output that staff have judged, oldest first, while its text is retained."""
    judged = Case.objects.filter(
        kind=Case.Kind.REJECTED,
        outcome__in=[Outcome.CORRECT, Outcome.FALSE],
        crosscheck__evidence_purged_at=None,
    ).select_related("crosscheck")
    for case in judged.order_by("closed_at", "pk").iterator():
        check = case.crosscheck
        if check:
            output = unescape_evidence(check.evidence)
            yield ReviewedOutput(check.tier, output, case.outcome == Outcome.FALSE)
