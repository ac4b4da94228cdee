"""Settings with which a command treats a sandbox site as a live site in Stripe's test mode."""

from oracle_site.settings import *  # noqa: F403 - overrides one setting

SANDBOX = False
