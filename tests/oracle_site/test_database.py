"""The configured database, and its locking of concurrent writers."""

import os
import threading

import pytest
from django.contrib.auth.models import Group
from django.db import connection, connections, transaction


@pytest.mark.django_db
def test_the_database_is_the_configured_one():
    configured = os.environ.get("DATABASE_URL", "sqlite:").partition(":")[0]
    assert connection.vendor == ("postgresql" if configured.startswith("postgres") else "sqlite")


@pytest.mark.django_db(transaction=True)
def test_writers_wait_for_each_other_instead_of_failing():
    Group.objects.create(name="count 0")
    failures = []

    def write(times=20):
        try:
            for _ in range(times):
                with transaction.atomic():
                    # With SQLite's default, DEFERRED, the second writer that has read first fails.
                    group = Group.objects.select_for_update().get(name__startswith="count ")
                    group.name = f"count {int(group.name.split()[1]) + 1}"
                    group.save()
        except Exception as error:  # noqa: BLE001 - asserted below
            failures.append(error)
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert failures == []
    assert Group.objects.filter(name="count 80").exists()
