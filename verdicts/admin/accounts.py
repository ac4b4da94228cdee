"""Staff accounts and groups: the only editable records of the console, for superusers."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest
from django_otp.plugins.otp_totp.models import TOTPDevice
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

if TYPE_CHECKING:
    UnfoldModelAdmin = admin.ModelAdmin[Any]
else:
    UnfoldModelAdmin = ModelAdmin

admin.site.unregister([User, Group])


@admin.register(User)
class UserAdmin(DjangoUserAdmin, UnfoldModelAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ("username", "email", "is_staff", "is_superuser", "two_factor")

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        devices = TOTPDevice.objects.filter(user=OuterRef("pk"), confirmed=True)
        users: QuerySet[User] = super().get_queryset(request)
        return users.annotate(has_two_factor=Exists(devices))

    @admin.display(boolean=True, description="two-factor authentication")
    def two_factor(self, user: Any) -> bool:
        return bool(user.has_two_factor)


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, UnfoldModelAdmin):
    pass
