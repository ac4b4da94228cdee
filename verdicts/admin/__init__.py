"""The console: one module for each thing that staff look at. docs/CONSOLE.md."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_q.models import Failure, OrmQ, Schedule, Success

from verdicts.admin import accounts, crosschecks, orders, read_only
from verdicts.admin.divergence import divergences, probes
from verdicts.admin.review import cases

__all__ = ["accounts", "cases", "crosschecks", "divergences", "orders", "probes", "read_only"]

# The queue's own forms run any function by its name: nobody gets one.
admin.site.unregister([Failure, OrmQ, Schedule, Success])
# Theirs show secrets to whoever may look; everybody has a page for their own instead.
admin.site.unregister([StaticDevice, TOTPDevice])
