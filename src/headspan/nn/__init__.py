"""The network: words in, scores of headed spans, arcs and relations out. Knows no files."""

import os

# oneDNN keeps what it makes for each shape of a batch, a thousand of them unless told otherwise.
# Shapes seldom come again, and what is kept lies scattered over the heap, which therefore grew.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
