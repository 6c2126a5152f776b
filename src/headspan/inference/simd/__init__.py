"""Compiled loops and the vector operations inside them; docs/kernels.md explains how they are made.

`compile` compiles a loop when it is first called; `lanes` are the small parts of which LLVM vectors
are made; `rows` and `tiles` are the operations on rows of charts and on score arrays, with their
meaning as plain loops in `plain`; `charts` is what the kernels of all structures share.
"""
