"""Displayed labels in plain terms; no change to the tables."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("verdicts", "0022_state_in_columns"),
    ]

    operations = [
        migrations.AlterField(
            model_name="case",
            name="outcome",
            field=models.CharField(
                blank=True,
                choices=[
                    ("refunded", "refunded"),
                    ("contacted", "customer contacted"),
                    ("authorized", "fresh generation authorized"),
                    ("correct", "closed: rightly rejected"),
                    ("false", "closed: should have passed"),
                    ("released", "payment accepted"),
                    ("resent", "email sent again"),
                ],
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="delivery",
            name="kind",
            field=models.CharField(
                choices=[
                    ("verdict", "verdict"),
                    ("held_back", "held back"),
                    ("refund", "refund"),
                    ("staff", "to staff"),
                    ("retired", "model retired, to staff"),
                    ("divergence", "divergence notice"),
                    ("escalation", "variance above the limit, to staff"),
                    ("unreconciled", "not reconciled with Stripe, to staff"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="order",
            name="recovered",
            field=models.CharField(
                blank=True,
                choices=[
                    ("judged", "the log has its verdict, which was emailed before"),
                    (
                        "older",
                        "sold before this installation: its verdict was emailed then",
                    ),
                    ("unclear", "another host may have emailed its verdict, or none has"),
                ],
                db_default="",
                max_length=8,
            ),
        ),
        migrations.AlterField(
            model_name="readbatch",
            name="others",
            field=models.JSONField(default=dict, help_text="other reads, by outcome"),
        ),
        migrations.AlterField(
            model_name="readbatch",
            name="verdicts",
            field=models.JSONField(default=dict, help_text="cache hits, by verdict"),
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
                    ("already_advanced", "order already advanced"),
                    ("expired", "expired"),
                    ("payment_failed", "payment failed"),
                    ("erased", "erased"),
                    ("not_ours", "not our session"),
                    ("unknown_payment", "unknown payment"),
                    ("no_payment_named", "names no payment"),
                    ("no_amount", "no amount"),
                    ("refunded", "refunded"),
                    ("refunded_in_part", "refunded in part"),
                    ("refund_in_progress", "refund in progress"),
                    ("refund_failed", "refund failed"),
                    ("not_handled", "event type not handled"),
                ],
                max_length=100,
            ),
        ),
    ]
