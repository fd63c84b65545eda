"""Programs that feed the library altered files and random calls, and say what went wrong."""
