"""Two views: one reads the row, one the cache."""

from typing import Any

from django.core.cache import cache
from django.shortcuts import get_object_or_404
from django.urls import path
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.generics import RetrieveAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from benchmarks.peers.plain_drf.models import Verdict


class VerdictSerializer(serializers.ModelSerializer[Verdict]):
    class Meta:
        model = Verdict
        exclude = ("session_id",)


class RowView(RetrieveAPIView[Verdict]):
    queryset = Verdict.objects.all()
    serializer_class = VerdictSerializer

    def get_object(self) -> Verdict:
        session_id = self.request.query_params.get("session_id", "")
        return get_object_or_404(self.get_queryset(), pk=session_id)


class CachedView(APIView):
    def get(self, request: Request) -> Response:
        found: dict[str, Any] | None = cache.get(request.query_params.get("session_id", ""))
        if found is None:
            raise NotFound
        return Response(found)


urlpatterns = [
    path("api/verdict", RowView.as_view()),
    path("cached/api/verdict", CachedView.as_view()),
]
