"""Training: data, loop, checkpoints."""

import os

# Threads that wait for each other by spinning come to a near stop beside a busy process. OpenMP
# reads this when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
