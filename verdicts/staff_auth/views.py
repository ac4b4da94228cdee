"""The pages of the second factor: show it, set it up, look after it."""

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

HOME = "second-factor"


class CodeForm(forms.Form):
    code = forms.CharField(
        label="Code",
        max_length=40,
        widget=UnfoldAdminTextInputWidget(
            attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}
        ),
    )

    def refuse(self, refused: two_factor.Refused) -> None:
        wait = f" Wait {refused.wait} s before you try again." if refused.wait else ""
        self.add_error("code", f"That code does not fit, or was used before.{wait}")


@never_cache
@staff_member_required
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest) -> HttpResponse:
    """After the password: a code of the authenticator, or a spare one."""
    user = _person(request)
    onward = _onward(request)
    if two_factor.has_shown(request) or not two_factor.factor_of(user):
        return HttpResponseRedirect(onward)
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            _let_in(request, two_factor.check(user, form.cleaned_data["code"]))
            return HttpResponseRedirect(onward)
        except two_factor.Refused as refused:
            form.refuse(refused)
    return _page(request, "check", "Second factor", form=form, onward=onward)


@never_cache
@staff_member_required
@require_http_methods(["GET", "HEAD", "POST"])
def set_up(request: HttpRequest) -> HttpResponse:
    """The secret, to be scanned, until a code shows that it was; then the spare codes, once."""
    user = _person(request)
    if two_factor.factor_of(user):
        return redirect(HOME)
    device = two_factor.begin(user)
    form = CodeForm(request.POST or None)
    if form.is_valid():
        try:
            device, codes = two_factor.confirm(user, device, form.cleaned_data["code"])
        except two_factor.Refused as refused:
            form.refuse(refused)
        else:
            _let_in(request, device)
            return _page(request, "spare-codes", "Spare codes", codes=codes)
    return _page(
        request,
        "set-up",
        "Set up a second factor",
        form=form,
        picture=mark_safe(two_factor.picture(device)),  # noqa: S308 - segno's, of our own address
        secret=two_factor.secret(device),
        is_required=_is_required(),
    )


@never_cache
@staff_member_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    user = _person(request)
    return _page(
        request,
        "home",
        "Second factor",
        form=CodeForm(),
        factor=two_factor.factor_of(user),
        left=two_factor.spare_codes_left(user),
        is_required=_is_required(),
    )


@never_cache
@staff_member_required
@require_POST
def renew(request: HttpRequest) -> HttpResponse:
    """New spare codes for who shows that the authenticator, or an old one, is theirs."""
    if not _shown(request):
        return redirect(HOME)
    return _page(
        request, "spare-codes", "Spare codes", codes=two_factor.renew_spare_codes(_person(request))
    )


@never_cache
@staff_member_required
@require_POST
def turn_off(request: HttpRequest) -> HttpResponse:
    if _is_required():
        messages.error(request, "Everybody here must have a second factor.")
    elif _shown(request):
        user = _person(request)
        two_factor.remove(user, who=user.get_username(), reason="turned off")
        messages.success(request, "The second factor is off: the password alone lets you in.")
    return redirect(HOME)


def _shown(request: HttpRequest) -> bool:
    """Whether a good code came with the request; else it says so on the next page."""
    form = CodeForm(request.POST)
    try:
        if form.is_valid():
            two_factor.check(_person(request), form.cleaned_data["code"])
            return True
    except two_factor.Refused as refused:
        form.refuse(refused)
    messages.error(
        request, "Nothing was changed. " + " ".join(map(str, form.errors.get("code", [])))
    )
    return False


def _let_in(request: HttpRequest, device: Any) -> None:
    request.session.cycle_key()
    login(request, device)


def _onward(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    good = wanted.startswith("/") and url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if good else reverse("admin:index")


def _is_required() -> bool:
    return bool(settings.ORACLE_SECOND_FACTOR == "required")


def _person(request: HttpRequest) -> User:
    return cast("User", request.user)


def _page(request: HttpRequest, name: str, title: str, **context: Any) -> HttpResponse:
    framed = {**admin.site.each_context(request), "title": title, **context}
    return render(request, f"door/{name}.html", framed)
