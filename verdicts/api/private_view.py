"""API responses that no shared cache may store, and that clients revalidate each time."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class PrivateView(APIView):
    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        finalized = super().finalize_response(request, response, *args, **kwargs)
        finalized["Cache-Control"] = "private, no-cache"
        finalized["Referrer-Policy"] = "no-referrer"  # the URL gives access to a verdict
        return finalized
