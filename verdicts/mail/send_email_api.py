"""`POST /send-verdict-email`: the email service's interface, for its clients."""

import math
from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from audit.log_context import set_log_session
from verdicts import clients
from verdicts.api.problem import CONTENT_TYPE, documented, outcome_problem, problem
from verdicts.api.service_token import ServiceView
from verdicts.core.sessions import SESSION_ID
from verdicts.mail.send_verdict import send_verdict
from verdicts.models import Delivery, Order


class SendSerializer(serializers.Serializer[Any]):
    session_id = serializers.RegexField(f"^{SESSION_ID.pattern}$", max_length=255)


class SentSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(choices=["sent", "sending"])
    message_id = serializers.CharField()


class SendVerdictEmailView(ServiceView):
    @extend_schema(
        operation_id="send_verdict_email",
        summary="Email the stored, approved verdict, once",
        request=SendSerializer,
        responses={
            200: SentSerializer,
            202: SentSerializer,
            (400, CONTENT_TYPE): documented("A body that does not fit."),
            (401, CONTENT_TYPE): documented("No service token."),
            (404, CONTENT_TYPE): documented("Unknown session."),
            (409, CONTENT_TYPE): documented("Nothing approved is stored."),
            (413, CONTENT_TYPE): documented("Too large."),
            (415, CONTENT_TYPE): documented("Not JSON."),
            (502, CONTENT_TYPE): documented("The mail server refused it; it is tried again."),
        },
    )
    def post(self, request: Request) -> HttpResponseBase:
        given = SendSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        session_id = given.validated_data["session_id"]
        set_log_session(session_id)
        order = Order.objects.filter(session_id=session_id).first()
        if order is None:
            return outcome_problem("unknown")
        already = order.deliveries.filter(kind=Delivery.Kind.VERDICT, state=Delivery.State.SENT)
        was_sent = already.exists()
        delivery = send_verdict(order, send=clients.send_message)
        if delivery is None:
            detail = "No approved verdict is stored for this session, so there is none to send."
            return problem("nothing-approved", 409, "Nothing to send", detail)
        if delivery.state == Delivery.State.SENT:
            return _sent("sent", delivery, 200 if was_sent else 202)
        if delivery.state == Delivery.State.SENDING:
            return _sent("sending", delivery, 202)
        return _not_sent(delivery)


def _not_sent(delivery: Delivery) -> Response:
    wait = 0
    again = "It is not tried again."
    if delivery.due_at:
        wait = max(1, math.ceil((delivery.due_at - timezone.now()).total_seconds()))
        again = "It is tried again by itself."
    detail = f"The mail server has not confirmed it: {delivery.error}. {again}"
    return problem("mail-refused", 502, "Not confirmed", detail, retry_after=wait)


def _sent(status: str, delivery: Delivery, code: int) -> Response:
    return Response({"status": status, "message_id": delivery.message_id}, status=code)
