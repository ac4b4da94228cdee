"""`POST /api/checkout`: an order by JSON."""

import logging
from typing import Any

from django.conf import settings
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.core.vocabulary import TIERS
from verdicts import outside
from verdicts.core.errors import PaymentError
from verdicts.core.prompt import QueryError, clean_query
from verdicts.services.checkout import start_checkout

logger = logging.getLogger(__name__)


class CheckoutSerializer(serializers.Serializer[Any]):
    tier = serializers.ChoiceField(choices=TIERS)
    query = serializers.CharField(trim_whitespace=False, allow_blank=True)
    email = serializers.EmailField(required=False, allow_blank=True, max_length=320)

    def validate_query(self, text: str) -> str:
        try:
            return clean_query(text)
        except QueryError as error:
            raise serializers.ValidationError(str(error)) from None


class CheckoutView(APIView):
    def post(self, request: Request) -> Response:
        order = CheckoutSerializer(data=request.data)
        order.is_valid(raise_exception=True)
        try:
            session = start_checkout(account=outside.stripe_account(), **order.validated_data)
        except PaymentError as error:
            logger.warning("no checkout: %s", error)
            return Response(
                {
                    "detail": "Payments are not available at the moment. Nothing was charged. "
                    f"Please try again in a minute, or write to {settings.SUPPORT_EMAIL}."
                },
                status=status.HTTP_503_SERVICE_UNAVAILABLE,
                headers={"Retry-After": "30"},
            )
        return Response(
            {"session_id": session.id, "url": session.url}, status=status.HTTP_201_CREATED
        )
