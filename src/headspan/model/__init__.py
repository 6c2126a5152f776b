"""A model: the parser that users call, its vocabularies, and its folder."""
