"""A model of Turkish for the dependency parser headspan."""
