"""Every URL of the site, from its URLconf, with one example path each."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.urls import URLPattern, URLResolver, get_resolver

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
ACCOUNTS = (User, Group)


class Address(NamedTuple):
    """docs/PERMISSIONS.md lists it by its `shape`, or together with others by its `kind`."""

    path: str
    shape: str
    kind: str


def addresses(found: Mapping[str, object]) -> list[Address]:
    """`found`: values of URL parameters by name, and ids of records by `app/model`."""
    return [one for route in routes(get_resolver()) for one in _addresses(route, found)]


def records() -> dict[str, type[Model]]:
    """The models of the console, by their part of the URL."""
    models = filter(admin.site.is_registered, apps.get_models())
    options = [admin.site.get_model_admin(model).opts for model in models]
    return {f"{opts.app_label}/{opts.model_name}": opts.model for opts in options}


def routes(resolver: URLResolver, before: str = "/") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route


def _addresses(route: str, found: Mapping[str, object]) -> Iterator[Address]:
    if route == "/admin/(?P<url>.*)$":  # the admin's catch-all pattern
        yield Address("/admin/no/such/page/", "/admin/{anything else}", "")
    elif choice := re.fullmatch(r"/admin/\^\(\?P<app_label>(.*)\)/\$", route):
        for app in choice[1].split("|"):
            yield Address(f"/admin/{app}/", f"/admin/{app}/", "")
    else:
        yield _address(route, found)


def _address(route: str, found: Mapping[str, object]) -> Address:
    shape, kind = PARAMETER.sub(r"{\1}", route), ""
    values = dict(found)
    for name, model in records().items():
        if route.startswith(f"/admin/{name}/"):
            kind = shape.replace(name, "{account}" if model in ACCOUNTS else "{record}", 1)
            values["object_id"] = values["id"] = found[name]
    path = PARAMETER.sub(lambda parameter: str(values[parameter[1]]), route)
    return Address(path, shape, kind)
