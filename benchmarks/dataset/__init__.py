"""Fills databases with orders and their full history, by bulk loading."""
