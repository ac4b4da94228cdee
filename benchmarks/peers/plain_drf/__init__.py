"""Django REST framework as in its documentation, with a database row or Django's Redis cache."""
