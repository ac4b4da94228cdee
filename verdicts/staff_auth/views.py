"""The pages of two-factor authentication: verify a code, set it up, manage it."""

from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_otp import login
from unfold.widgets import UnfoldAdminTextInputWidget

from verdicts.staff_auth import two_factor

MANAGE = "second-factor"
TITLE = "Two-factor authentication"


class CodeForm(forms.Form):
    code = forms.CharField(
        label="Code",
        max_length=40,
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}
        ),
    )

    def reject(self, error: two_factor.CodeRejected) -> None:
        wait = f" Wait {error.retry_after} s before you try again." if error.retry_after else ""
        self.add_error("code", f"This code is wrong or was used before.{wait}")


@never_cache
@staff_member_required
@require_http_methods(["GET", "HEAD", "POST"])
def verify(request: HttpRequest) -> HttpResponse:
    """After the password: a TOTP or recovery code."""
    user = _user(request)
    next_url = _next_url(request)
    if two_factor.is_verified(request) or not two_factor.confirmed_device(user):
        return HttpResponseRedirect(next_url)
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            _log_in(request, two_factor.verify_code(user, form.cleaned_data["code"]))
            return HttpResponseRedirect(next_url)
        except two_factor.CodeRejected as error:
            form.reject(error)
    return _page(request, "verify", TITLE, form=form, next_url=next_url)


@never_cache
@staff_member_required
@require_http_methods(["GET", "HEAD", "POST"])
def set_up(request: HttpRequest) -> HttpResponse:
    """Show the secret until a code proves that it was scanned; then the recovery codes, once."""
    user = _user(request)
    if two_factor.confirmed_device(user):
        return redirect(MANAGE)
    device = two_factor.begin_setup(user)
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            device, codes = two_factor.confirm_setup(user, device, form.cleaned_data["code"])
        except two_factor.CodeRejected as error:
            form.reject(error)
        else:
            _log_in(request, device)
            return _recovery_codes_page(request, codes)
    return _page(
        request,
        "set-up",
        "Set up two-factor authentication",
        form=form,
        qr_code=mark_safe(two_factor.qr_code(device)),  # noqa: S308 - segno's, of our own address
        secret=two_factor.typed_secret(device),
        is_required=_is_required(),
    )


@never_cache
@staff_member_required
@require_safe
def manage(request: HttpRequest) -> HttpResponse:
    user = _user(request)
    return _page(
        request,
        "manage",
        TITLE,
        form=CodeForm(),
        device=two_factor.confirmed_device(user),
        recovery_codes_left=two_factor.recovery_codes_left(user),
        is_required=_is_required(),
    )


@never_cache
@staff_member_required
@require_POST
def renew_recovery_codes(request: HttpRequest) -> HttpResponse:
    if not _has_valid_code(request):
        return redirect(MANAGE)
    return _recovery_codes_page(request, two_factor.renew_recovery_codes(_user(request)))


@never_cache
@staff_member_required
@require_POST
def turn_off(request: HttpRequest) -> HttpResponse:
    if _is_required():
        messages.error(request, "Two-factor authentication is required here: it cannot be off.")
    elif _has_valid_code(request):
        user = _user(request)
        two_factor.remove(user, who=user.get_username(), reason="turned off")
        messages.success(request, "Two-factor authentication is off: your password is enough.")
    return redirect(MANAGE)


def _has_valid_code(request: HttpRequest) -> bool:
    """Whether the request carries a valid code; if not, a message for the next page says so.

    An open session alone must not be able to change the second factor.
    """
    form = CodeForm(request.POST)
    try:
        if form.is_valid():
            two_factor.verify_code(_user(request), form.cleaned_data["code"])
            return True
    except two_factor.CodeRejected as error:
        form.reject(error)
    messages.error(
        request, "Nothing was changed. " + " ".join(map(str, form.errors.get("code", [])))
    )
    return False


def _log_in(request: HttpRequest, device: Any) -> None:
    request.session.cycle_key()  # against session fixation
    login(request, device)


def _next_url(request: HttpRequest) -> str:
    """Where `next` points on this host; else the console's home: no open redirect."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_safe = wanted.startswith("/") and url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if is_safe else reverse("admin:index")


def _is_required() -> bool:
    return bool(settings.ORACLE_SECOND_FACTOR == "required")


def _user(request: HttpRequest) -> User:
    return cast("User", request.user)


def _recovery_codes_page(request: HttpRequest, codes: list[str]) -> HttpResponse:
    return _page(request, "recovery-codes", "Recovery codes", codes=codes)


def _page(request: HttpRequest, name: str, title: str, **context: Any) -> HttpResponse:
    context = {**admin.site.each_context(request), "title": title, **context}
    return render(request, f"staff_auth/{name}.html", context)
