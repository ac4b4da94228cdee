"""Alternative servers of a stored verdict, written as in their own documentation."""
