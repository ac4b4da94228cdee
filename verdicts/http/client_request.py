"""The client's IP address, and the network that rate limits count it as."""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The peer's address; behind the proxy, the last address in X-Forwarded-For."""
    if settings.BEHIND_PROXY:
        forwarded = request.headers.get("X-Forwarded-For", "")
        return forwarded.rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))


def client_network(address: str) -> str:
    """What counts as one client: an IPv4 address, or an IPv6 subscriber's /64."""
    host = address.strip()
    if host.count(":") == 1 or host.startswith("["):  # some proxies append a port
        host = host.rpartition(":")[0].strip("[]")
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, 64), strict=False))
