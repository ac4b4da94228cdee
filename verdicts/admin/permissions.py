"""The console's permissions by name, and the checks for them."""

from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

VIEW_CUSTOMER: Final = "verdicts.view_customer"
VIEW_EVIDENCE: Final = "audit.view_evidence"
VIEW_CASES: Final = "verdicts.view_case"
DECIDE_CASES: Final = "verdicts.change_case"
VIEW_ORDERS: Final = "verdicts.view_order"


def is_allowed(request: HttpRequest, permission: str) -> bool:
    return request.user.has_perm(permission)


def require(request: HttpRequest, *permissions: str) -> None:
    """Raises PermissionDenied unless the user has all of them."""
    if not request.user.has_perms(permissions):
        raise PermissionDenied
