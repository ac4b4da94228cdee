"""What people do about a session goes on record, with who and why."""

from django.utils import timezone

from audit.core.plain import plain
from audit.core.record import action_entry
from audit.log import log
from audit.models import Action


def record_action(*, session_id: str, action: str, who: str, reason: str) -> Action:
    """In the caller's transaction, so that nothing is done without its record."""
    row = Action.objects.create(
        session_id=session_id, action=action[:30], who=plain(who, 150), reason=plain(reason, 500)
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
