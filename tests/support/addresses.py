"""Every address of the site, as its map has it, with one example that can be asked for."""

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
    """`shape` and `kind` are how docs/PERMISSIONS.md lists it: alone, or with all of its kind."""

    path: str
    shape: str
    kind: str


def addresses(found: Mapping[str, object]) -> list[Address]:
    """`found` holds what stands for a parameter; by `app/model` for the id of such a record."""
    return [one for route in routes(get_resolver()) for one in _addresses(route, found)]


def records() -> dict[str, type[Model]]:
    """Whatever the console lists, by its part of an address."""
    listed = filter(admin.site.is_registered, apps.get_models())
    dressed = [admin.site.get_model_admin(model).opts for model in listed]
    return {f"{opts.app_label}/{opts.model_name}": opts.model for opts in dressed}


def routes(resolver: URLResolver, before: str = "/") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route


def _addresses(route: str, found: Mapping[str, object]) -> Iterator[Address]:
    if route == "/admin/(?P<url>.*)$":  # the admin's answer to what is none of its pages
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
