"""Rate limit for look-ups of unknown sessions at Stripe: per network and minute (R10).

The counter is in the database, so that all processes and hosts share it.
"""

import time
from typing import Final

from django.db.models import F
from django.utils.crypto import salted_hmac

from verdicts.http.client_request import client_network
from verdicts.models import LookupLimit

PER_MINUTE: Final = 10
SECONDS: Final = 60


def allowed(address: str) -> bool:
    """Whether this address may ask about one more unknown session now. Counts it."""
    key = salted_hmac("verdicts.lookups", client_network(address), algorithm="sha256").hexdigest()
    minute = int(time.time()) // SECONDS
    mine = LookupLimit.objects.filter(address=key)
    _, new = LookupLimit.objects.get_or_create(address=key, defaults={"minute": minute, "count": 1})
    # Only forward: a host whose clock is behind must not reset the count.
    if new or mine.filter(minute__lt=minute).update(minute=minute, count=1):
        return True
    return bool(mine.filter(count__lt=PER_MINUTE).update(count=F("count") + 1))


def wait() -> int:
    """Seconds until the next minute."""
    return SECONDS - int(time.time()) % SECONDS


def delete_expired() -> int:
    return LookupLimit.objects.filter(minute__lt=int(time.time()) // SECONDS - 1).delete()[0]
