"""Every answer of the API is for one reader, who asks each time whether it still holds."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class PrivateView(APIView):
    def finalize_response(
        self, request: Request, response: Response, *args: Any, **kwargs: Any
    ) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Cache-Control"] = "private, no-cache"
        answer["Referrer-Policy"] = "no-referrer"  # the address holds the key to a verdict
        return answer
