"""Settings of all tests: a busy machine is no failure, and what passed once passes again.

``UNNAIVE_RANDOM=1`` draws other examples than the last time, to look for what is still wrong.
"""

import os

from hypothesis import settings

repeated = "UNNAIVE_RANDOM" not in os.environ
settings.register_profile("unhurried", deadline=None, derandomize=repeated)
settings.load_profile("unhurried")
