"""Choices shared by several tables."""

from audit.core.vocabulary import LABELS, UNKNOWN

KINDS = [("original", "original"), ("regen", "regeneration")]


TIER_CHOICES = [("quick", "quick"), ("full", "full"), ("strategy", "strategy")]


LABEL_CHOICES = [(label, label) for label in (*LABELS, UNKNOWN)]
