"""`GET` and `POST /`: the landing page and its order form."""

import logging

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from verdicts import clients
from verdicts.core.errors import PaymentError
from verdicts.core.label_texts import MEANING
from verdicts.core.prompt import MAX_QUERY, QueryError, clean_query
from verdicts.core.tiers import TIER
from verdicts.pages.example import EXAMPLE
from verdicts.payments.checkout import start_checkout

logger = logging.getLogger(__name__)

SEE_OTHER = 303
RETRY_AFTER = 30  # seconds, while Stripe is unavailable
REPLACEMENT_CHARACTER = "\ufffd"  # Django decodes bytes that are not UTF-8 to it


# Customer-facing text. "One of the three" counts the tiers: adjust it for a new tier.
class OrderForm(forms.Form):
    tier = forms.ChoiceField(
        choices=[(name, tier.title) for name, tier in TIER.items()],
        error_messages={
            "required": "Choose one of the three.",
            "invalid_choice": "Choose one of the three.",
        },
    )
    query = forms.CharField(strip=False, required=False)
    email = forms.EmailField(required=False, max_length=320)

    def clean_query(self) -> str:
        if REPLACEMENT_CHARACTER in self.cleaned_data["query"]:
            raise forms.ValidationError(
                "Some of this came in an encoding that we cannot read. Please type it again."
            )
        try:
            return clean_query(self.cleaned_data["query"])
        except QueryError as error:
            raise forms.ValidationError(str(error)) from None


@require_http_methods(["GET", "HEAD", "POST"])
def landing(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _page(request, OrderForm(initial={"tier": "full"}))
    form = OrderForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        session = start_checkout(account=clients.stripe_account(), **form.cleaned_data)
    except PaymentError as error:
        logger.warning("no checkout: %s", error)
        form.add_error(
            None,
            "Payments are not available at the moment. Nothing was charged, and what you wrote "
            "is still here: please try again in a minute.",
        )
        page = _page(request, form, status=503)
        page["Retry-After"] = str(RETRY_AFTER)
        return page
    return HttpResponseRedirect(session.url, status=SEE_OTHER)


def _page(request: HttpRequest, form: OrderForm, *, status: int = 200) -> HttpResponse:
    chosen = form["tier"].value()
    offers = [
        {"tier": tier, "price": settings.ORACLE_PRICES[name], "chosen": name == chosen}
        for name, tier in TIER.items()
    ]
    context = {
        "form": form,
        "offers": offers,
        "max_query": MAX_QUERY,
        "meanings": MEANING.values(),
        "example": EXAMPLE,
    }
    return render(request, "landing.html", context, status=status)
