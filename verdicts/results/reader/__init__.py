"""Answers cached hits of `GET /api/verdict` without Django's threads: an RSGI application.

Servers load `oracle_site.rsgi:application`. `requests` decides what can be answered here,
`lookup` reads the cache, `responses` builds the response, `application` combines them.
"""
