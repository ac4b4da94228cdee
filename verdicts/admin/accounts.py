"""Staff and their groups: the only thing in the console that is edited, and by superusers."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangosGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangosUserAdmin
from django.contrib.auth.models import Group, User
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


@admin.register(Group)
class GroupAdmin(DjangosGroupAdmin, Dressed):
    pass
