"""Restores the rows that migrations created after each test that commits.

Django empties every table after such a test, and expects these tests to run last. pytest-xdist
distributes tests by file, so any test may run after one.
"""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core import serializers
from django.db.models.signals import post_migrate

MADE_BY_DJANGO = (ContentType, Permission)  # Django recreates them after every flush


def keep_migrated_rows() -> None:
    models = [model for model in apps.get_models() if model not in MADE_BY_DJANGO]
    rows = [row for model in models for row in model.objects.all()]
    saved = serializers.serialize("json", rows, use_natural_foreign_keys=True)

    def restore(**options: Any) -> None:
        if "plan" in options:  # migrations ran: tables may have an older schema
            return
        for row in serializers.deserialize("json", saved):
            row.save()

    # After the signal for the last app, all permissions exist.
    last = [config for config in apps.get_app_configs() if config.models_module][-1]
    post_migrate.connect(restore, sender=last, weak=False)
