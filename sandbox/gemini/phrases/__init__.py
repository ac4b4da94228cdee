"""The sentences that verdicts are composed of.

Placeholders: {topic} and {Topic} what the submission is about, {word} a keyword,
{figure} an amount or duration that it mentions.
"""
