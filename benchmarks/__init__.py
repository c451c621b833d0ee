"""The course's claims about speed, each measured with both sides in one run: `python -m benchmarks`."""

import os

os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # torch's profiler, which measures memory, would print about itself
