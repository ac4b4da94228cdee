"""The staff console at /admin/: one module for each kind of record. See docs/CONSOLE.md."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_q.models import Failure, OrmQ, Schedule, Success

from verdicts.admin import accounts, crosschecks, orders, read_only
from verdicts.admin.divergence import divergences, probes
from verdicts.admin.review import cases

__all__ = ["accounts", "cases", "crosschecks", "divergences", "orders", "probes", "read_only"]

# django-q2's forms can run any function by its dotted name.
admin.site.unregister([Failure, OrmQ, Schedule, Success])
# django-otp's show other users' secrets; verdicts.staff_auth has a page for one's own device.
admin.site.unregister([StaticDevice, TOTPDevice])
