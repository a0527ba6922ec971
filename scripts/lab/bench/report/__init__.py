"""The reports for people."""
