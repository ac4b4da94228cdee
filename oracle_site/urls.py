"""The whole map of addresses, in the order of the walk."""

from django.contrib import admin
from django.urls import path

from verdicts.pages.landing import landing

urlpatterns = [
    path("", landing, name="landing"),
    path("admin/", admin.site.urls),
]
