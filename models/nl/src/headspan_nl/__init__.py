"""A model of Dutch for the dependency parser headspan."""
