"""All routes: the three APIs, the HTML pages, the /_control/ interface."""

from typing import Final

from sandbox import control
from sandbox.dispatch import Route
from sandbox.gemini import api as gemini
from sandbox.graph import api as graph
from sandbox.pages import mailbox, overview, payment
from sandbox.stripe import api as stripe
from sandbox.stripe import control as stripe_control

ROUTES: Final[tuple[Route, ...]] = (
    *gemini.ROUTES,
    *stripe.ROUTES,
    *graph.ROUTES,
    Route("GET", "/", overview.show),
    Route("GET", "/pay/[^/]+", payment.show),
    Route("POST", "/pay/[^/]+", payment.act),
    Route("GET", "/mailbox", mailbox.show_all),
    Route("GET", "/mailbox/[0-9]+", mailbox.show_one),
    Route("GET", "/mailbox/[0-9]+/raw", mailbox.show_raw),
    *control.ROUTES,
    *stripe_control.ROUTES,
)
