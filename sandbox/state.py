"""The in-memory state of one sandbox, and its reset.

Every part does its own locking; no thread sleeps while holding a lock.
"""

from dataclasses import dataclass, field, replace
from threading import Event

from sandbox.faults import Faults, Rule
from sandbox.gemini.rate_limit import RateLimit
from sandbox.graph.mailbox import Mailbox
from sandbox.graph.tokens import Tokens
from sandbox.recorder import Recorder
from sandbox.settings import Settings
from sandbox.stripe.store import StripeStore
from sandbox.stripe.webhook import WebhookSender


@dataclass(slots=True)
class State:
    base_url: str
    settings: Settings
    closing: Event = field(default_factory=Event)
    faults: Faults = field(default_factory=Faults)
    rate_limit: RateLimit = field(default_factory=RateLimit)
    requests: Recorder = field(default_factory=Recorder)
    stripe: StripeStore = field(default_factory=StripeStore)
    tokens: Tokens = field(default_factory=Tokens)
    mailbox: Mailbox = field(default_factory=Mailbox)
    webhooks: WebhookSender = field(init=False)
    _initial_settings: Settings = field(init=False)

    def __post_init__(self) -> None:
        self._initial_settings = replace(self.settings)
        self.webhooks = WebhookSender(self.settings, self.faults)

    def pause(self, seconds: float) -> None:
        """Sleep; a shutdown of the server ends it early."""
        if seconds > 0:
            self.closing.wait(seconds)

    def fault_for(self, api: str, text: str) -> Rule | None:
        """The fault for a request: a matching rule, or the rate limit of the model."""
        rule = self.faults.take(api, text)
        if rule is None and api == "gemini" and not self.rate_limit.allows(self.settings.rate):
            return Rule(0, api, "rate_limited")
        return rule

    def reset(self) -> None:
        """Back to the state after start-up: nothing stored, no faults, initial settings."""
        self.webhooks.clear()
        self.faults.clear()
        self.requests.clear()
        self.stripe.clear()
        self.tokens.clear()
        self.mailbox.clear()
        self.settings.copy_from(self._initial_settings)

    def close(self) -> None:
        self.closing.set()
        self.webhooks.close()
