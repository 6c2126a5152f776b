"""A model: the parser that people call, its folder, and how it is found."""
