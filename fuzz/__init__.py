"""Programs that feed the library altered files and random calls, and say what went wrong.

``python -m fuzz --help`` lists the kinds; docs/reliability.md has the figures.
"""
