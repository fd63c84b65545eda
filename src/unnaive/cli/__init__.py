"""The command line ``unnaive``; the only room that prints."""
