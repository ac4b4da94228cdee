"""All that one sandbox knows, in memory, and how to forget it.

Every part looks after its own locking; nobody sleeps while holding a lock.
"""

from dataclasses import dataclass, field, replace
from threading import Event

from sandbox.faults import Faults, Rule
from sandbox.gemini.pace import Pace
from sandbox.graph.mailbox import Mailbox
from sandbox.graph.tokens import Tokens
from sandbox.recorder import Recorder
from sandbox.settings import Settings
from sandbox.stripe.ledger import Ledger
from sandbox.stripe.webhook import WebhookSender


@dataclass(slots=True)
class State:
    base_url: str
    settings: Settings
    closing: Event = field(default_factory=Event)
    faults: Faults = field(default_factory=Faults)
    pace: Pace = field(default_factory=Pace)
    requests: Recorder = field(default_factory=Recorder)
    ledger: Ledger = field(default_factory=Ledger)
    tokens: Tokens = field(default_factory=Tokens)
    mailbox: Mailbox = field(default_factory=Mailbox)
    webhooks: WebhookSender = field(init=False)
    _at_start: Settings = field(init=False)

    def __post_init__(self) -> None:
        self._at_start = replace(self.settings)
        self.webhooks = WebhookSender(self.settings, self.faults)

    def pause(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the server."""
        if seconds > 0:
            self.closing.wait(seconds)

    def fault_of(self, api: str, text: str) -> Rule | None:
        """What a request meets: a rule that fits, or the model's full quota."""
        rule = self.faults.take(api, text)
        if rule is None and api == "gemini" and not self.pace.takes(self.settings.rate):
            return Rule(0, api, "rate_limited")
        return rule

    def reset(self) -> None:
        """As if just started: nothing stored, no faults, the settings of the start."""
        self.webhooks.forget()
        self.faults.clear()
        self.requests.clear()
        self.ledger.clear()
        self.tokens.clear()
        self.mailbox.clear()
        self.settings.become(self._at_start)

    def close(self) -> None:
        self.closing.set()
        self.webhooks.close()
