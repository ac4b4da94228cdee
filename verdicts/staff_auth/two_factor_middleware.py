"""Who has a second factor, or must have one, shows it before anything of the console answers."""

from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.urls import reverse

from verdicts.staff_auth.two_factor import factor_of, has_shown

Answer = Callable[[HttpRequest], HttpResponseBase]


def ask_for_second_factor(get_response: Answer) -> Answer:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        missing = _missing(request) if _is_inside(request.path) else ""
        if not missing:
            return get_response(request)
        back = urlencode({"next": request.get_full_path()}) if request.method == "GET" else ""
        return HttpResponseRedirect(f"{reverse(missing)}?{back}".rstrip("?"))

    return middleware


def _is_inside(path: str) -> bool:
    """Everything under /admin/ but what gets people in and out."""
    outside = ("admin:login", "admin:logout", "second-factor-check", "second-factor-set-up")
    return path.startswith(reverse("admin:index")) and path not in map(reverse, outside)


def _missing(request: HttpRequest) -> str:
    """The page that this person has to pass first; mostly none."""
    user = request.user
    # Whom the admin turns away by itself is not told more than that.
    if not (user.is_authenticated and user.is_staff) or has_shown(request):
        return ""
    if factor_of(user):
        return "second-factor-check"
    return "second-factor-set-up" if settings.ORACLE_SECOND_FACTOR == "required" else ""
