"""The network: words in, scores of headed spans, arcs and relations out. Knows no files."""

import os

# oneDNN keeps what it makes for each shape of a matrix, a thousand of them unless told otherwise.
# Layers of an encoder share a few shapes, but those of one batch seldom come again in another; and
# what is kept lies scattered over the heap, which therefore grew.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "8")
