"""How long something has been waiting, in words that can be read at a glance."""

from datetime import datetime

from django.utils import timezone


def waiting(since: datetime) -> str:
    minutes = max(0, int((timezone.now() - since).total_seconds() // 60))
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
