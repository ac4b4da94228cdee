"""Staff actions, and the entries of oracle_log.jsonl."""

from typing import Any, NoReturn
from uuid import uuid4

from django.db import models


class Action(models.Model):
    """What a member of staff did about a session, and why. Each has an entry in the log."""

    session_id = models.CharField(max_length=255, db_index=True)
    action = models.CharField(max_length=30)
    who = models.CharField(max_length=150)
    reason = models.CharField(max_length=500)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.action} by {self.who}"


class AppendOnlyViolation(Exception):
    """An attempt to change or delete a row of the audit log."""


def new_public_id() -> str:
    return uuid4().hex


class LogEntryQuerySet(models.QuerySet["LogEntry"]):
    def pending(self, host: str) -> "LogEntryQuerySet":
        """Entries not yet in that host's file, in the order of writing."""
        return self.filter(host=host, written_at__isnull=True).order_by("id")

    def written(self, host: str) -> "LogEntryQuerySet":
        """Entries in that host's file, in the order of its chain."""
        return self.filter(host=host, sequence__isnull=False).order_by("sequence")

    def to_erase(self, host: str) -> "LogEntryQuerySet":
        """Entries erased in the database that may still be readable in that host's files."""
        return self.filter(host=host, erased_at__isnull=False, erased_in_file_at=None)

    def delete(self) -> NoReturn:
        raise AppendOnlyViolation("log entries are never deleted")


class LogEntry(models.Model):
    """A line of oracle_log.jsonl, committed in the transaction that it reports on.

    Append-only: only `audit.log.writer` (marks a row as written) and `audit.log.erasure` (blanks
    a preview) change rows, with `update()`. A written row contains everything needed to rebuild
    its line.
    """

    public_id = models.CharField(max_length=32, unique=True, default=new_public_id)
    # JSON as text: PostgreSQL's jsonb reorders keys and rejects NUL.
    entry = models.TextField()
    salt = models.CharField(max_length=32, blank=True)
    commitment = models.CharField(max_length=64, blank=True)
    host = models.CharField(max_length=255)
    created_at = models.DateTimeField(auto_now_add=True)
    failures = models.PositiveIntegerField(default=0)

    written_at = models.DateTimeField(null=True, blank=True)
    sequence = models.PositiveBigIntegerField(null=True, blank=True)
    prev = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64, blank=True)

    # When the preview was blanked in the database, and when in the host's files.
    erased_at = models.DateTimeField(null=True, blank=True)
    erased_in_file_at = models.DateTimeField(null=True, blank=True)

    objects = LogEntryQuerySet.as_manager()

    class Meta:
        verbose_name = "log entry"
        verbose_name_plural = "log entries"
        constraints = (
            models.UniqueConstraint(fields=["host", "sequence"], name="one_line_a_place"),
            models.CheckConstraint(
                name="written_as_a_whole",
                condition=models.Q(written_at=None, sequence=None, prev="", hash="")
                | ~models.Q(prev="")
                & ~models.Q(hash="")
                & models.Q(written_at__isnull=False, sequence__isnull=False),
            ),
        )
        indexes = (
            # Partial indexes: their size depends on the backlog, not on the table.
            models.Index(
                fields=["host", "id"],
                name="log_entry_pending",
                condition=models.Q(written_at__isnull=True),
            ),
            models.Index(
                fields=["host", "id"],
                name="log_entry_to_erase",
                condition=models.Q(erased_at__isnull=False, erased_in_file_at__isnull=True),
            ),
        )

    def __str__(self) -> str:
        return self.public_id

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnlyViolation("log entries are never changed")
        super().save(*args, **kwargs)

    def delete(self, *_: object, **__: object) -> NoReturn:
        raise AppendOnlyViolation("log entries are never deleted")
