"""The append-only log: a hash chain of lines in oracle_log.jsonl, written from an outbox."""
