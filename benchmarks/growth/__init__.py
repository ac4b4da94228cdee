"""Latency of reads, writes, pages and reports as the dataset grows."""
