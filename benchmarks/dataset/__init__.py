"""A house with a long past: orders and all that became of them, written fast."""
