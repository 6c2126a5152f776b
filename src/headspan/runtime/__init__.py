"""From numbers to trees without torch: the network as an ONNX graph, and decoding."""

import os

# ONNX Runtime reports to its maker from version 1.29 on, unless one of these is set before it is
# imported. Which of the two it reads depends on the version.
for _name in ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"):
    os.environ.setdefault(_name, "1")
