"""What every part of headspan stands on: errors, files, limits, memory, timing."""
