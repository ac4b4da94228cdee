"""All URLs: those of customers in the order of an order's steps, then operators and staff."""

from django.contrib import admin
from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularRedocView

from verdicts.mail.send_email_api import SendVerdictEmailView
from verdicts.monitoring.views import MetricsView, healthz, readyz
from verdicts.pages.landing import landing
from verdicts.payments.checkout_api import CheckoutView
from verdicts.payments.webhook_api import webhook
from verdicts.results.cache_api import CacheView
from verdicts.results.page import result
from verdicts.results.verdict_api import VerdictView
from verdicts.staff_auth import views as auth

urlpatterns = [
    path("", landing, name="landing"),
    path("api/checkout", CheckoutView.as_view(), name="checkout"),
    path("api/webhook", webhook, name="webhook"),
    path("oracle/result", result, name="result"),
    path("api/verdict", VerdictView.as_view(), name="verdict"),
    path("cache/<str:session_id>", CacheView.as_view(), name="cache"),
    path("send-verdict-email", SendVerdictEmailView.as_view(), name="send-verdict-email"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", MetricsView.as_view(), name="metrics"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularRedocView.as_view(url_name="schema"), name="docs"),
    path("admin/second-factor/", auth.manage, name="second-factor"),
    path("admin/second-factor/check/", auth.verify, name="second-factor-check"),
    path("admin/second-factor/set-up/", auth.set_up, name="second-factor-set-up"),
    path("admin/second-factor/new-codes/", auth.renew_recovery_codes, name="second-factor-renew"),
    path("admin/second-factor/off/", auth.turn_off, name="second-factor-turn-off"),
    path("admin/", admin.site.urls),
]

handler400 = "verdicts.pages.errors.bad_request"
handler404 = "verdicts.pages.errors.not_found"
handler500 = "verdicts.pages.errors.server_error"
