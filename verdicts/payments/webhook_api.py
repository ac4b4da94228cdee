"""`POST /api/webhook`: verifies, stores and processes Stripe events before any slow work."""

import logging

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from verdicts.core.errors import BadEvent, BadSignature
from verdicts.payments.client import read_event
from verdicts.payments.events import receive

logger = logging.getLogger(__name__)


# Another payment provider needs its own address and signature check.
@csrf_exempt  # signed by Stripe instead
@require_POST
def webhook(request: HttpRequest) -> HttpResponse:
    signature = request.headers.get("Stripe-Signature", "")
    try:
        event = read_event(request.body, signature, settings.STRIPE_WEBHOOK_SECRETS)
    except (BadSignature, BadEvent) as error:
        logger.warning("webhook refused: %s", error)
        return JsonResponse({"error": f"{error}"}, status=400)
    receive(event)
    return JsonResponse({"received": True})
