"""Rows that migrations made, put back whenever a test with commits of its own has ended.

Django empties every table then, and expects such tests to run after all others. pytest-xdist
hands tests out file by file, so any test may come after one.
"""

from typing import Any

from django.apps import apps
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core import serializers
from django.db.models.signals import post_migrate

MADE_BY_DJANGO = (ContentType, Permission)  # after every flush, by its own receivers


def keep_migrated_rows() -> None:
    models = [model for model in apps.get_models() if model not in MADE_BY_DJANGO]
    rows = [row for model in models for row in model.objects.all()]
    kept = serializers.serialize("json", rows, use_natural_foreign_keys=True)

    def put_back(**options: Any) -> None:
        if "plan" in options:  # migrations ran, and the tables may be those of an older version
            return
        for row in serializers.deserialize("json", kept):
            row.save()

    # After the signal for the last app, all permissions exist.
    last = [config for config in apps.get_app_configs() if config.models_module][-1]
    post_migrate.connect(put_back, sender=last, weak=False)
