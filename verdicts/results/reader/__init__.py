"""Answers cached hits of `GET /api/verdict` without Django's threads: an RSGI application.

`oracle_site.rsgi:application` is what a server loads. `requests` decides what can be
answered here, `lookup` reads the cache, `responses` builds the answer under the headers
that Django puts on it, `application` puts them together.
"""
