"""Reports for people: one page of a model, and what a page needs to compute by itself."""

from unnaive.report.file import write
from unnaive.report.html import render
from unnaive.report.summary import Settings, summarise
from unnaive.report.tables import explorer_document

__all__ = ["Settings", "explorer_document", "render", "summarise", "write"]
