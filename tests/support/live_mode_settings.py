"""Settings with which a command takes the sandbox's site for a live one in Stripe's test mode."""

from oracle_site.settings import *  # noqa: F403 - all of them, but for one

SANDBOX = False
