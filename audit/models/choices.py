"""Choices shared by several tables."""

from audit.core.vocabulary import LABELS, TIERS, UNKNOWN

KINDS = [("original", "original"), ("regen", "regeneration")]


TIER_CHOICES = [(tier, tier) for tier in TIERS]


LABEL_CHOICES = [(label, label) for label in (*LABELS, UNKNOWN)]
