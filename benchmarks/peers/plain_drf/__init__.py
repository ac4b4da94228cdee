"""Django REST framework as its documentation shows it: a model row, or Django's Redis cache."""
