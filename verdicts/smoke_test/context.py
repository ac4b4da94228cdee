"""What the checks of one smoke test share: with whom they speak, and what they have found."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from audit.core.vocabulary import TierName
from audit.models import DivergenceEvent
from verdicts.http.plain_http import Reply
from verdicts.models import Order, Verdict
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.sandbox_client import Sandbox
from verdicts.smoke_test.site_client import Shop


class Found:
    """Left by each check for those after it, which run only if it went well."""

    last_event: int  # Stripe's events after this one are of this run
    order: Order
    original: Verdict
    answer: Reply  # of the original, by the API
    regen: Verdict | None = None  # None: nothing was made again
    event: DivergenceEvent


@dataclass
class Run(Found):
    shop: Shop
    sandbox: Sandbox | None  # None: the site is live
    has_mailbox: bool  # every email arrives at the sandbox
    deadline: Deadline
    tier: TierName
    email: str
    who: str
    say: Callable[[str], None]  # a line, at once
    tag: str = field(default_factory=lambda: secrets.token_hex(6))  # in no other query
    orders: list[Order] = field(default_factory=list)
