"""A model of French for the dependency parser headspan."""
