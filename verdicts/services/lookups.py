"""How often strangers may have us ask Stripe: per address and minute, for all processes (R10)."""

import time
from typing import Final

from django.db.models import F
from django.utils.crypto import salted_hmac

from verdicts.models import Lookups

PER_MINUTE: Final = 10
SECONDS: Final = 60


def allowed(address: str) -> bool:
    """Whether this address may ask about one more unknown session now. Counts it."""
    key = salted_hmac("verdicts.lookups", address, algorithm="sha256").hexdigest()
    minute = int(time.time()) // SECONDS
    mine = Lookups.objects.filter(address=key)
    # The first of this minute starts the count; at most PER_MINUTE go on with it.
    if mine.exclude(minute=minute).update(minute=minute, count=1):
        return True
    if mine.filter(minute=minute, count__lt=PER_MINUTE).update(count=F("count") + 1):
        return True
    _, new = Lookups.objects.get_or_create(address=key, defaults={"minute": minute, "count": 1})
    return new


def wait() -> int:
    """Seconds until the next minute."""
    return SECONDS - int(time.time()) % SECONDS


def forget_old() -> int:
    return Lookups.objects.filter(minute__lt=int(time.time()) // SECONDS - 1).delete()[0]
