"""Serializer fields without Django REST framework's type coercion."""

from typing import Any, Final

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from verdicts.core.prompt import MAX_QUERY, QueryError, clean_query

# What `clean_query` accepts, for the OpenAPI schema: printable, and not blank. (It also rejects
# lone surrogates, which not every regular expression dialect can express.)
_UNPRINTABLE: Final = r"\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F"
_BLANK: Final = r"\t\n\r \u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000"
QUERY_PATTERN: Final = f"^[^{_UNPRINTABLE}]*[^{_UNPRINTABLE}{_BLANK}][^{_UNPRINTABLE}]*$"


class TextField(serializers.CharField):
    """Only JSON strings: Django REST framework's CharField also accepts numbers."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(super().to_internal_value(data))


@extend_schema_field(
    {"type": "string", "minLength": 1, "maxLength": MAX_QUERY, "pattern": QUERY_PATTERN}
)
class QueryField(TextField):
    """The customer's query, validated and normalized by `clean_query`."""

    def __init__(self, **options: Any) -> None:
        blank: dict[str, Any] = {"blank": "Describe the idea that you want judged."}
        super().__init__(trim_whitespace=False, error_messages=blank, **options)

    def to_internal_value(self, data: Any) -> str:
        try:
            return clean_query(super().to_internal_value(data))
        except QueryError as error:
            raise serializers.ValidationError(str(error)) from None
