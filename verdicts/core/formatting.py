"""Dates, times, prices, durations and scores as text, for console, pages, emails and commands.

Pure: no I/O, no clock, no Django. Times are UTC, as stored; callers add "UTC" where a reader
could take them for local time.
"""

from datetime import date, datetime, timedelta
from typing import Final

# Customer-facing text includes prices, in one format for every language.
CURRENCY: Final = "cad"
_SYMBOL: Final = {CURRENCY: "CA$"}


def format_price(cents: int, currency: str = CURRENCY) -> str:
    """CA$1234.50; another currency by its code: EUR 5.00."""
    symbol = _SYMBOL.get(currency, f"{currency.upper()} ")
    return f"{symbol}{cents // 100}.{cents % 100:02}"


def format_amount(cents: int, currency: str = "") -> str:
    """1,234.50, or 1234.50 CAD with a currency."""
    return f"{cents / 100:.2f} {currency.upper()}" if currency else f"{cents / 100:,.2f}"


def format_date(day: date) -> str:
    return f"{day:%Y-%m-%d}"


def format_datetime(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def format_timestamp(at: datetime) -> str:
    """With seconds, where the order of events within a minute matters."""
    return f"{at:%Y-%m-%d %H:%M:%S}"


def format_time(at: datetime) -> str:
    return f"{at:%H:%M}"


def format_long_date(day: date) -> str:
    """For customers: 3 May 2026."""
    return f"{day.day} {day:%B %Y}"


def format_long_datetime(at: datetime) -> str:
    """For customers: 3 May 2026, 14:05."""
    return f"{format_long_date(at)}, {format_time(at)}"


def format_chart_day(day: date, *, year: bool = False) -> str:
    """Short, for the axis of a chart."""
    return f"{day:%d %b %y}" if year else f"{day:%d %b}"


def format_duration(duration: timedelta) -> str:
    """The two largest units at most: 5 min, 2 h 5 min, 1 day 3 h, 12 days."""
    minutes = max(0, int(duration.total_seconds() // 60))
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    unit = "day" if days == 1 else "days"
    return f"{days} {unit} {hours} h" if hours and days < 3 else f"{days} {unit}"


def format_wait(seconds: int) -> str:
    """For customers, rounded: 30 seconds, a minute, 5 minutes."""
    if seconds > 90:
        return f"{round(seconds / 60)} minutes"
    if seconds > 45:
        return "a minute"
    return "1 second" if seconds == 1 else f"{seconds} seconds"


def format_score(score: float) -> str:
    """A coherence score, or any of its terms: 0.9740."""
    return f"{score:.4f}"


def format_interval(low: float, high: float) -> str:
    """A confidence interval: 1.2% to 6.9%."""
    return f"{low:.1%} to {high:.1%}"
