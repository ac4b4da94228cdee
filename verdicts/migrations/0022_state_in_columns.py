"""What code depends on is an enum, no longer a sentence: how orders were recovered, event outcomes."""

from typing import ClassVar

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation

RECOVERED = {
    "made again from the log, which has its verdict: it was emailed before": "judged",
    "another host may have emailed its verdict, or nobody": "unclear",
}
OUTCOMES = {
    "paid": "paid",
    "held": "held",
    "awaiting payment": "awaiting",
    "recreated": "recreated",
    "already paid": "already_paid",
    "already further on": "already_advanced",
    "expired": "expired",
    "payment_failed": "payment_failed",
    "erased": "erased",
    "not our session": "not_ours",
    "no such payment here": "unknown_payment",
    "no payment named": "no_payment_named",
    "no amount": "no_amount",
    "refunded": "refunded",
    "refunded in part": "refunded_in_part",
    "refund under way": "refund_in_progress",
    "refund failed": "refund_failed",
    "not of our kind": "not_handled",
}


def from_sentences(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    orders = apps.get_model("verdicts", "Order").objects
    for sentence, recovered in RECOVERED.items():
        orders.filter(reason=sentence).update(recovered=recovered)
    events = apps.get_model("verdicts", "StripeEvent").objects
    for sentence, outcome in OUTCOMES.items():
        # Of an erased order the object is redacted already.
        events.filter(outcome__in=[sentence, f"erased, {sentence}"]).update(outcome=outcome)


def to_sentences(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    events = apps.get_model("verdicts", "StripeEvent").objects
    for sentence, outcome in OUTCOMES.items():
        events.filter(outcome=outcome).update(outcome=sentence)


class Migration(migrations.Migration):
    dependencies: ClassVar = [("verdicts", "0021_standard_names")]

    operations: ClassVar[list[Operation]] = [
        migrations.AddField(
            model_name="order",
            name="recovered",
            field=models.CharField(
                blank=True,
                choices=[
                    (
                        "judged",
                        "made again from the log, which has its verdict: it was emailed before",
                    ),
                    ("older", "sold before this installation: its verdict was emailed then"),
                    ("unclear", "another host may have emailed its verdict, or nobody"),
                ],
                db_default="",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="stripeevent",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("paid", "paid"),
                    ("held", "held for staff"),
                    ("awaiting", "awaiting payment"),
                    ("recreated", "recreated"),
                    ("already_paid", "already paid"),
                    ("already_advanced", "already further on"),
                    ("expired", "expired"),
                    ("payment_failed", "payment failed"),
                    ("erased", "erased"),
                    ("not_ours", "not our session"),
                    ("unknown_payment", "no such payment here"),
                    ("no_payment_named", "no payment named"),
                    ("no_amount", "no amount"),
                    ("refunded", "refunded"),
                    ("refunded_in_part", "refunded in part"),
                    ("refund_in_progress", "refund in progress"),
                    ("refund_failed", "refund failed"),
                    ("not_handled", "not of a type that is handled"),
                ],
                max_length=100,
            ),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="state",
            field=models.CharField(
                choices=[
                    ("pending", "pending"),
                    ("sending", "sending"),
                    ("sent", "sent"),
                    ("failed", "failed"),
                    ("uncertain", "uncertain: sent or not is unknown"),
                ],
                default="pending",
                max_length=10,
            ),
        ),
        migrations.RunPython(from_sentences, to_sentences),
    ]
