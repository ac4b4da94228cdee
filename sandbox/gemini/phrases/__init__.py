"""The sentences that verdicts are put together from.

Slots: {topic} and {Topic} what the submission is about, {word} a word of it,
{figure} a figure or span of time that it names.
"""
