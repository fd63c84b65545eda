"""Reports on models: a summary as plain values, and an HTML page with an explorer."""

from unnaive.report.file import Report, write
from unnaive.report.html import render
from unnaive.report.summary import Settings, summarise

__all__ = ["Report", "Settings", "render", "summarise", "write"]
