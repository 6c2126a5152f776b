"""The compiled CPU loops. Nothing here is imported before the first call needs it."""
