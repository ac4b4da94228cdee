"""`manage.py score_verdict`: runs the gate on given output, recording nothing (C18)."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from textwrap import indent
from typing import Any, BinaryIO, NamedTuple

from django.core.management.base import BaseCommand, CommandError

from audit.core.crosscheck import Decision, crosscheck
from audit.core.tmm import PHI
from audit.core.vocabulary import TIERS
from audit.management.terminal import render_table

BAD_USAGE = 2
REJECTED = 1
# Files with one verdict per line.
JSONL_SUFFIXES = frozenset({".jsonl", ".ndjson"})


class Command(BaseCommand):
    help = (
        "Score verdicts as the gate would; nothing is stored or logged. Prints one decision as "
        "JSON per input. Exit code: 0 all approved, 1 any rejected, 2 bad usage."
    )
    requires_system_checks = ()  # needs neither database nor network

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tier", required=True, choices=TIERS, help="the tier to score for")
        parser.add_argument(
            "files",
            nargs="*",
            default=["-"],
            metavar="FILE",
            help="a model's output; - or none: standard input; .jsonl, .ndjson: one per line",
        )
        parser.add_argument(
            "--jsonl", action="store_true", help="every input has one verdict per line"
        )
        parser.add_argument(
            "--explain", action="store_true", help="print each contribution to the score as a table"
        )

    def handle(self, *, tier: str, files: list[str], **options: Any) -> None:
        render = _table if options["explain"] else _line
        total = rejected = 0
        try:
            for source in files:
                for name, output in _outputs(source, jsonl=options["jsonl"]):
                    decision = crosscheck(output, tier)
                    total += 1
                    rejected += not decision.approved
                    self.stdout.write(render(name, decision))
            self.stdout.flush()
        except BrokenPipeError:
            # The reader closed the pipe. Otherwise Python would fail again when closing stdout.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise CommandError(f"output: {error.strerror}", returncode=BAD_USAGE) from None
        if rejected:
            raise CommandError(f"{rejected} of {total} rejected", returncode=REJECTED)
        if not total:
            raise CommandError("no verdict in the input", returncode=BAD_USAGE)


class _Input(NamedTuple):
    name: str
    output: str | None  # None: not valid UTF-8


def _outputs(source: str, *, jsonl: bool) -> Iterator[_Input]:
    """The model outputs in `source`, streamed, so that files of any size can be scored."""
    try:
        if source == "-":
            if sys.stdin is None:
                raise CommandError("standard input is closed", returncode=BAD_USAGE)
            yield from _read("-", sys.stdin.buffer, jsonl=jsonl)
            return
        path = Path(source)
        with path.open("rb") as file:
            yield from _read(source, file, jsonl=jsonl or path.suffix.lower() in JSONL_SUFFIXES)
    except OSError as error:
        raise CommandError(f"{source!r}: {error.strerror}", returncode=BAD_USAGE) from None


def _read(name: str, file: BinaryIO, *, jsonl: bool) -> Iterator[_Input]:
    if not jsonl:
        yield _Input(name, _decode(file.read()))
        return
    for number, line in enumerate(file, start=1):
        if line.strip():
            yield _Input(f"{name}:{number}", _decode(line))


def _decode(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _line(name: str, decision: Decision) -> str:
    return json.dumps({"input": name, **decision.as_dict()})


def _table(name: str, decision: Decision) -> str:
    outcome = "approved" if decision.approved else "REJECTED"
    title = f"{name}: {outcome} ({decision.crosscheck_reason}), label {decision.verdict_label}"
    if decision.coherence_score is None:
        return f"{title}: {decision.error}\n"
    rows = [(c.term, f"{c.amount:>4.1f}", c.where, c.what) for c in decision.contributions]
    table = indent(render_table(("", "", "", ""), rows), "  ")
    sign = ">=" if decision.approved else "<"
    formula = (
        f"  C = 1 - (E_D {decision.e_d} + V_r {decision.v_r} x {PHI}) / V_t {decision.v_t}"
        f" = {decision.coherence_score:.4f} {sign} {decision.threshold:.5f}"
    )
    flags = f"  flags: {', '.join(decision.flags) or 'none'}"
    return "\n".join([title, table, formula, flags, ""])
