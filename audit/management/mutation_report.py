"""Formats the report of a mutation run: which mutants the gate rejects."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from textwrap import fill
from typing import Final

from audit.core.mutations.kinds import HARMLESS, KINDS, Kind
from audit.core.mutations.tally import Tally, total
from audit.core.tmm import OMEGA
from audit.core.vocabulary import TIERS
from audit.management.terminal import render_table

_COUNTS: Final = ("mutants", "rejected", "approved", "flagged")
HEADER: Final = ("Mutation", *_COUNTS, *TIERS, "lowest", "median", "rejected as")
_WIDTH: Final = 100
_NOT_A_RATE: Final = (
    "The percentages are of this list of mutations, not of real model output: they show what the "
    "mapping can detect, not how often it is wrong."
)


def report(found: Mapping[Kind, Tally], *, good: int, left_out: int) -> str:
    harmful = total(tally for kind, tally in found.items() if not kind.should_pass)
    harmless = total(tally for kind, tally in found.items() if kind.should_pass)
    verdicts = f"{good:,} good verdict{'s' * (good > 1)}"
    changed = f"{harmless.created.total():,} harmless changes"
    lines = [
        f"{verdicts}: {harmful.created.total():,} mutants, {changed}.",
        *(["  " + _left_out(left_out)] if left_out else []),
        "",
        _table(found, harmful),
        "",
        f"Approved from {OMEGA:.5f}. By tier: approved mutants; -: not applicable to the tier.",
        "Flagged: approved mutants that staff find under Passed with flags.",
        "",
        *_summary(harmful, harmless),
        "",
        "What the mapping does not detect",
        *_undetected(found, harmful),
    ]
    return "\n".join(lines)


def _left_out(count: int) -> str:
    return f"{count:,} left out: marked as bad, or rejected or flagged before any mutation."


def _table(found: Mapping[Kind, Tally], harmful: Tally) -> str:
    rows: list[tuple[str, ...]] = []
    rules: set[int] = set()
    for group, kinds in groupby(KINDS, key=lambda kind: kind.group):
        if group == HARMLESS:
            rules |= {len(rows), len(rows) + 1}
            rows.append(_row("All mutants", harmful))
        tallies = [(kind, found[kind]) for kind in kinds if kind in found]
        if tallies:
            rows.append((group, *[""] * (len(HEADER) - 1)))
            rows += [_row(f"  {kind.name}", tally) for kind, tally in tallies]
    return render_table(HEADER, rows, right=range(1, len(HEADER) - 1), rules_before=rules)


def _row(name: str, of: Tally) -> tuple[str, ...]:
    reason = next((reason for reason, _ in of.reasons.most_common(1)), "-")
    return (
        name,
        f"{of.created.total():,}",
        f"{of.rejected:,}",
        f"{of.passed.total():,}",
        f"{of.flagged:,}",
        *(f"{of.passed[tier]:,}" if of.created[tier] else "-" for tier in TIERS),
        *("-" if score is None else f"{score:.3f}" for score in (of.lowest, of.median)),
        reason,
    )


def _summary(harmful: Tally, harmless: Tally) -> Iterator[str]:
    mutants = harmful.created.total()
    yield (
        f"Rejected {harmful.rejected:,} of {mutants:,} mutants "
        f"({_share(harmful.rejected, mutants)}), approved {harmful.passed.total():,}, "
        f"{harmful.flagged:,} of them with a flag."
    )
    yield f"Rejected {harmless.rejected:,} of {harmless.created.total():,} harmless changes."


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _with_tiers(kind: Kind, of: Tally) -> str:
    return f"{kind.name} ({', '.join(tier for tier in TIERS if of.passed[tier])})"


def _undetected(found: Mapping[Kind, Tally], harmful: Tally) -> Iterator[str]:
    mutations = [(kind, found[kind]) for kind in KINDS if kind in found and not kind.should_pass]
    never = [kind.name for kind, of in mutations if not of.rejected]
    partly = [_with_tiers(kind, of) for kind, of in mutations if of.rejected and of.passed]
    unflagged = harmful.passed.total() - harmful.flagged
    for sentence in (
        f"Never rejected: {'; '.join(never) or 'none'}.",
        f"Partly rejected, approved for: {'; '.join(partly) or 'none'}.",
        f"{unflagged:,} were approved without a flag, so staff do not review them.",
        "The gate checks structure (invariant 7): any text counts, whatever it says.",
        _NOT_A_RATE,
    ):
        yield fill(sentence, _WIDTH, initial_indent="- ", subsequent_indent="  ")
