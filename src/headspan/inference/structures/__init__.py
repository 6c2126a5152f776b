"""The structures, one folder each.

A folder holds the structure's object (`__init__.py`), its recurrence over any algebra
(`recurrence.py`), its items for the k best trees and samples (`items.py`), and its compiled loops
for the best tree (`kernel.py`) and for sums over all trees (`sums.py`).
"""
