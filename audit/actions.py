"""Records staff actions: who did what about a session, and why."""

from django.utils import timezone

from audit.core.printable import printable
from audit.core.record import action_entry
from audit.log import log
from audit.models import Action


def record_action(*, session_id: str, action: str, who: str, reason: str) -> Action:
    """Call it in the transaction of the action, so that neither commits without the other."""
    row = Action.objects.create(
        session_id=session_id,
        action=action[:30],
        who=printable(who, 150),
        reason=printable(reason, 500),
    )
    log.append(
        action_entry(
            session_id=session_id,
            action=action,
            who=row.who,
            reason=row.reason,
            at=timezone.now(),
        )
    )
    return row
