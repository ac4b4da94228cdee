"""`POST /api/checkout`: places an order."""

import logging
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from audit.core.vocabulary import TIERS
from verdicts import clients
from verdicts.api.fields import QueryField
from verdicts.api.private_view import PrivateView
from verdicts.api.problem import CONTENT_TYPE, documented, problem
from verdicts.core.errors import PaymentError
from verdicts.payments.checkout import start_checkout

logger = logging.getLogger(__name__)


class CheckoutSerializer(serializers.Serializer[Any]):
    tier = serializers.ChoiceField(choices=TIERS)
    query = QueryField()
    email = serializers.EmailField(required=False, allow_blank=True, max_length=320)


class CheckoutSessionSerializer(serializers.Serializer[Any]):
    session_id = serializers.CharField()
    url = serializers.URLField(help_text="Stripe's page, where the customer pays.")


class CheckoutView(PrivateView):
    @extend_schema(
        operation_id="checkout",
        summary="Order a verdict",
        request=CheckoutSerializer,
        responses={
            201: CheckoutSessionSerializer,
            (400, CONTENT_TYPE): documented("The order does not fit; `errors` says why."),
            (413, CONTENT_TYPE): documented("Too large."),
            (415, CONTENT_TYPE): documented("Not JSON."),
            (503, CONTENT_TYPE): documented("Stripe cannot be reached; nothing was charged."),
        },
    )
    def post(self, request: Request) -> Response:
        order = CheckoutSerializer(data=request.data)
        order.is_valid(raise_exception=True)
        try:
            session = start_checkout(account=clients.stripe_account(), **order.validated_data)
        except PaymentError as error:
            logger.warning("no checkout: %s", error)
            return problem(
                "try-later",
                status.HTTP_503_SERVICE_UNAVAILABLE,
                "Payments are not available",
                "Nothing was charged. Please try again in a minute.",
                retry_after=30,
            )
        return Response(
            {"session_id": session.id, "url": session.url}, status=status.HTTP_201_CREATED
        )
