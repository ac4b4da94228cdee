"""Logging in to the console: login throttle and two-factor authentication (2FA)."""
