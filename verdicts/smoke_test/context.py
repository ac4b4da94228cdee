"""What the checks of one smoke test share: clients, options, and the findings so far."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

from audit.core.vocabulary import TierName
from audit.models import DivergenceEvent
from verdicts.http.plain_http import Reply
from verdicts.models import Order, Verdict
from verdicts.smoke_test.deadline import Deadline
from verdicts.smoke_test.sandbox_client import SandboxClient
from verdicts.smoke_test.site_client import SiteClient


class Findings:
    """Set by each check for the checks after it, which run only if it passed."""

    last_event: int  # primary key; Stripe events after it may belong to this run
    order: Order
    original: Verdict
    answer: Reply  # the API's response with the original
    regen: Verdict | None = None  # None: nothing was regenerated
    event: DivergenceEvent


@dataclass
class Run(Findings):
    client: SiteClient
    sandbox: SandboxClient | None  # None: the site is live
    has_mailbox: bool  # emails go to the sandbox
    deadline: Deadline
    tier: TierName
    email: str
    who: str
    print_line: Callable[[str], None]  # unbuffered
    tag: str = field(default_factory=lambda: secrets.token_hex(6))  # unique to this run's queries
    orders: list[Order] = field(default_factory=list)
