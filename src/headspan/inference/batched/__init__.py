"""The recurrences as batched tensor operations, for scores on any device.

Width by width: all spans of one length, of all sentences, in one step, so that O(n²) of the O(n³)
run in parallel. Nothing goes through autograd: the best tree stores which alternative won, and
marginals come from an explicit outside pass. The arithmetic and the order of alternatives are
those of the kernels, so that trees are the same, ties included.
"""
