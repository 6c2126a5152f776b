"""From numbers to trees without torch: the network as an ONNX graph, and decoding."""
