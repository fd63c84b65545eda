"""Counts, the sufficient statistics of the models, and the engines that count rows."""

from unnaive.counts.count import count
from unnaive.counts.engines.memory import CodedRows, count_batch
from unnaive.counts.joint import JointCounts
from unnaive.counts.merging import merge

__all__ = ["CodedRows", "JointCounts", "count", "count_batch", "merge"]
