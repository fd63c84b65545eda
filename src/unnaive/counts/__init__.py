"""The sufficient statistics and where rows come from."""

from unnaive.counts.count import count
from unnaive.counts.engines.memory import CodedRows, count_batch
from unnaive.counts.joint import JointCounts, merge

__all__ = ["CodedRows", "JointCounts", "count", "count_batch", "merge"]
