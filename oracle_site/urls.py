"""The whole map of addresses, in the order of the walk."""

from django.contrib import admin
from django.urls import path

from verdicts.api.checkout import CheckoutView
from verdicts.api.webhook import webhook
from verdicts.pages.landing import landing
from verdicts.pages.result import result

urlpatterns = [
    path("", landing, name="landing"),
    path("api/checkout", CheckoutView.as_view(), name="checkout"),
    path("api/webhook", webhook, name="webhook"),
    path("oracle/result", result, name="result"),
    path("admin/", admin.site.urls),
]
