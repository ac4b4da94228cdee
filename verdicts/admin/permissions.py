"""What the console's permissions are called, and whether somebody has one."""

from typing import Final

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

CUSTOMER: Final = "verdicts.view_customer"
EVIDENCE: Final = "audit.view_evidence"
SEE_CASES: Final = "verdicts.view_case"
DECIDE: Final = "verdicts.change_case"
SEE_ORDERS: Final = "verdicts.view_order"


def allowed(request: HttpRequest, permission: str) -> bool:
    return request.user.has_perm(permission)


def need(request: HttpRequest, *permissions: str) -> None:
    """Raises PermissionDenied unless this person has every one of them."""
    if not request.user.has_perms(permissions):
        raise PermissionDenied
