"""Staff and their groups: the only thing in the console that is edited, and by superusers."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangosGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangosUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

if TYPE_CHECKING:
    Dressed = admin.ModelAdmin[Any]
else:
    Dressed = ModelAdmin

admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(DjangosUserAdmin, Dressed):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "is_staff", "is_superuser", "second_factor")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        theirs = TOTPDevice.objects.filter(user=OuterRef("pk"), confirmed=True)
        found: QuerySet[User] = super().get_queryset(request).annotate(has_factor=Exists(theirs))
        return found

    @admin.display(boolean=True, description="second factor")
    def second_factor(self, person: Any) -> bool:
        return bool(person.has_factor)


@admin.register(Group)
class GroupAdmin(DjangosGroupAdmin, Dressed):
    pass
