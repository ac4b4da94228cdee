"""Tables: model calls, gate decisions, comparisons, daily counts and log entries.

Staff never edit rows. `session_id` refers to an order without a foreign key, because this app
does not depend on orders. Rows marked `smoke` come from a smoke test and are excluded from
all statistics; the column has a database default, so that the previous release can still insert
rows while an upgrade is in progress.
"""

from audit.models.choices import KINDS, LABEL_CHOICES, TIER_CHOICES
from audit.models.divergence import DeterminismProbe, DivergenceEvent, Escalation
from audit.models.judgement import CrosscheckLog, ModelCall, escape_evidence, unescape_evidence
from audit.models.log import Action, AppendOnlyViolation, LogEntry, LogEntryQuerySet, new_public_id
from audit.models.stats import DayCount

__all__ = [
    "KINDS",
    "LABEL_CHOICES",
    "TIER_CHOICES",
    "Action",
    "AppendOnlyViolation",
    "CrosscheckLog",
    "DayCount",
    "DeterminismProbe",
    "DivergenceEvent",
    "Escalation",
    "LogEntry",
    "LogEntryQuerySet",
    "ModelCall",
    "escape_evidence",
    "new_public_id",
    "unescape_evidence",
]
