"""The foundation of every part of headspan: errors, files, limits, memory, timing."""
