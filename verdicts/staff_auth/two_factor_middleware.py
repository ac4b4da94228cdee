"""No console page without the second factor: for staff who have one, or must have one."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from verdicts.staff_auth.two_factor import confirmed_device, is_verified

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def require_two_factor(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        step = _missing_step(request) if _is_protected(request.path) else ""
        if not step:
            return get_response(request)
        # A POST is not repeated after the redirect.
        query = urlencode({"next": request.get_full_path()}) if request.method == "GET" else ""
        return HttpResponseRedirect(f"{reverse(step)}?{query}".rstrip("?"))

    return middleware


def _is_protected(path: str) -> bool:
    """Everything under /admin/ except the pages to log in and out."""
    exempt = ("admin:login", "admin:logout", "second-factor-check", "second-factor-set-up")
    return path.startswith(reverse("admin:index")) and path not in map(reverse, exempt)


def _missing_step(request: HttpRequest) -> str:
    """The URL name of the page that this user has to pass first; empty if none."""
    user = request.user
    # Users who are not staff get the admin's own answer, and learn nothing more.
    if not (user.is_authenticated and user.is_staff) or is_verified(request):
        return ""
    if confirmed_device(user):
        return "second-factor-check"
    return "second-factor-set-up" if settings.ORACLE_SECOND_FACTOR == "required" else ""
