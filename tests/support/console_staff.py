"""Creates staff accounts and sample statistics in a live site's own database.

`python -m tests.support.console_staff NAME=GROUP …` creates accounts; the password is
the name twice. `history` creates 90 days of statistics, `compared` comparisons and
`probes` determinism probes; `age` makes the open cases older.
"""

import os
import random
import sys
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oracle_site.settings")
django.setup()

from django.contrib.auth.models import Group, User  # noqa: E402 - after django.setup()
from django.utils import timezone  # noqa: E402 - after django.setup()

from audit.core.wilson import wilson  # noqa: E402 - after django.setup()
from audit.models import (  # noqa: E402 - after django.setup()
    CrosscheckLog,
    DayCount,
    DeterminismProbe,
    DivergenceEvent,
)
from tests.support.comparisons import add_comparisons  # noqa: E402 - after django.setup()
from verdicts.models import Case, Order  # noqa: E402 - after django.setup()

TIERS = {"quick": (14, 200), "full": (22, 500), "strategy": (6, 1500)}
FLAGS = {"short_summary": 5, "dimension_conflict": 3, "empty_analysis": 2, "too_few_tests": 1}


def create_account(name: str, group: str) -> None:
    user = User.objects.create_user(name, password=name * 2, is_staff=True)
    if group:
        user.groups.add(Group.objects.get(name=group))


def history(days: int = 90) -> None:
    rng = random.Random(42)  # noqa: S311 - reproducible screenshots
    today = timezone.now().date()
    rows = []
    for days_ago in range(1, days):
        day = today - timedelta(days=days_ago)
        activity = 1.3 if day.weekday() < 5 else 0.6
        for tier, (average, cents) in TIERS.items():
            orders = round(average * activity * rng.uniform(0.7, 1.3))
            rejected = sum(rng.random() < 0.03 for _ in range(orders))
            regens = sum(rng.random() < 0.12 for _ in range(orders))
            minor = sum(rng.random() < 0.035 for _ in range(regens))
            counts = {
                ("order", "delivered"): orders - rejected,
                ("order", "rejected"): rejected,
                ("cents", ""): orders * cents,
                ("original", "pass"): orders - rejected,
                ("original", "field_missing"): rejected,
                ("regen", "pass"): regens,
                ("regen call", "answered"): regens,
                ("score", "50"): round(orders * 0.9),
                ("score", "49"): max(0, orders - round(orders * 0.9) - rejected),
                ("score", str(rng.choice([46, 44, 38, 31, -1]))): rejected,
                ("divergence", "none"): regens - minor,
                ("divergence", "minor"): minor,
                ("cause", rng.choice(["infrastructure", "model", "prompt"])): minor,
                **{("flag", flag): rng.randrange(n) for flag, n in FLAGS.items()},
            }
            rows += [
                DayCount(day=day, name=name, tier=tier, key=key, count=count)
                for (name, key), count in counts.items()
                if count > 0
            ]
        rows.append(DayCount(day=day, name="hit", count=round(160 * activity * rng.random() + 80)))
    DayCount.objects.bulk_create(rows)


def comparisons(checked: int = 160, diverged: int = 5) -> None:
    """Comparisons over a month, for the infrastructure variance (R14)."""
    events = [*add_comparisons(diverged, "minor"), *add_comparisons(checked - diverged)]
    for number, event in enumerate(events):
        then = event.created_at - timedelta(hours=3 + 4 * number)
        DivergenceEvent.objects.filter(pk=event.pk).update(created_at=then)
        CrosscheckLog.objects.filter(pk=event.crosscheck_id).update(created_at=then)


def probes() -> None:
    """One probe a week, with a change of the model's version in between."""
    rng = random.Random(42)  # noqa: S311 - reproducible screenshots
    for tier, compared in {"quick": 49, "full": 29}.items():
        for weeks in range(13, -1, -1):
            is_new_version = weeks < 5
            differed = sum(
                rng.random() < (0.09 if is_new_version else 0.02) for _ in range(compared)
            )
            low, high = wilson(compared - differed, compared)
            probe = DeterminismProbe.objects.create(
                tier=tier,
                model="gemini-2.5-flash",
                prompt_sha256="0" * 64,
                temperature=0.0,
                seed=615104202,
                asked=compared + 1,
                unanswered=0,
                rejected=0,
                compared=compared,
                same_label=compared - differed,
                same_dimensions=None if tier == "quick" else compared - differed - 1,
                same_text=compared - 3 * differed - 2,
                distinct_texts=3 * differed + 3,
                low=low,
                high=high,
                model_versions=[
                    "gemini-2.5-flash-002" if is_new_version else "gemini-2.5-flash-001"
                ],
                prompt_tokens=400 * compared,
                output_tokens=250 * compared,
            )
            then = timezone.now() - timedelta(days=7 * weeks + 1)
            DeterminismProbe.objects.filter(pk=probe.pk).update(created_at=then)


def age() -> None:
    """Make the open cases older, and give the first order some cache hits."""
    for number, case in enumerate(Case.objects.filter(closed_at=None).order_by("-opened_at")):
        earlier = timedelta(minutes=17 + 97 * number)
        Case.objects.filter(pk=case.pk).update(opened_at=case.opened_at - earlier)
    Order.objects.filter(pk=Order.objects.order_by("pk").values("pk")[:1]).update(
        hits=3, last_read_at=timezone.now()
    )


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        name, is_account, group = argument.partition("=")
        if is_account:
            create_account(name, group)
        else:
            {"history": history, "compared": comparisons, "probes": probes, "age": age}[name]()
