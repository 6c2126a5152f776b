"""headspan inside other tools."""
