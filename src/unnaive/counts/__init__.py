"""The sufficient statistics and where rows come from."""

from unnaive.counts.count import count
from unnaive.counts.engines.memory import CodedRows
from unnaive.counts.joint import JointCounts

__all__ = ["CodedRows", "JointCounts", "count"]
