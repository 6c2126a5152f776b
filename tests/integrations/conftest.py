from corpus.conftest import model, no_model, parse, treebank  # noqa: F401 (fixtures)
