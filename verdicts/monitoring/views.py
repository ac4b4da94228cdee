"""`/healthz`, `/readyz` and `/metrics`: for supervisors, load balancers and Prometheus."""

from collections.abc import Iterable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from verdicts.api.service_token import ServiceView
from verdicts.monitoring.metrics import CONTENT_TYPE, metrics_cache
from verdicts.monitoring.readiness import readiness


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Liveness and version. Without the database, since restarting a process repairs none."""
    return JsonResponse({"alive": True, "version": settings.ORACLE_VERSION})


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    checks = readiness()
    ready = all(check.ok for check in checks.values())
    body = {name: {"ok": check.ok, "says": check.detail} for name, check in checks.items()}
    return JsonResponse({"ready": ready, "checks": body}, status=200 if ready else 503)


class IgnoreAcceptHeader(BaseContentNegotiation):
    """Prometheus lists the formats it accepts; this site always answers in its one format."""

    def select_parser(self, request: Request, parsers: object) -> None:
        return None

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        first = next(iter(renderers))
        return first, first.media_type


@extend_schema(exclude=True)
class MetricsView(ServiceView):
    content_negotiation_class = IgnoreAcceptHeader

    def get(self, request: Request) -> HttpResponseBase:
        return HttpResponse(metrics_cache.text(), content_type=CONTENT_TYPE)
