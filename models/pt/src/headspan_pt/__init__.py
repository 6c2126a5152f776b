"""A model of Portuguese for the dependency parser headspan."""
