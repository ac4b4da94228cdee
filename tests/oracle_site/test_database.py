"""Both databases are what the settings say they are."""

import os
import threading

import pytest
from django.contrib.auth.models import Group
from django.db import connection, connections, transaction


@pytest.mark.django_db
def test_the_database_is_the_one_that_was_asked_for():
    asked = os.environ.get("DATABASE_URL", "sqlite:").partition(":")[0]
    assert connection.vendor == ("postgresql" if asked.startswith("postgres") else "sqlite")


@pytest.mark.django_db(transaction=True)
def test_writers_wait_for_each_other_instead_of_failing():
    Group.objects.create(name="count 0")
    failures = []

    def write(times=20):
        try:
            for _ in range(times):
                with transaction.atomic():
                    # Reads first: with SQLite's default this is where a second writer fails.
                    group = Group.objects.select_for_update().get(name__startswith="count ")
                    group.name = f"count {int(group.name.split()[1]) + 1}"
                    group.save()
        except Exception as error:  # noqa: BLE001 - told to the test below
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
