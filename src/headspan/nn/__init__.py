"""The network: words in, scores of headed spans, arcs and relations out. Knows no files."""
