# `make demo` and `make test` are the two commands of the README. Both set up .venv themselves; only
# the first run installs anything.

PYTHON := $(shell for p in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint types layers pytest model models licences lock dist smoke clean

demo: .venv/demo-installed
	@$(BIN)/headspan draw examples/figure1.conllu
	@$(BIN)/headspan parse "Time flies like an arrow. Don't panic!" --format tree --confidence

test: lint types layers pytest

lint: .venv/test-installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/test-installed
	$(BIN)/mypy

layers: .venv/test-installed
	$(BIN)/lint-imports --no-cache

pytest: .venv/test-installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile

# Train the embedded English models again and install them in the package: a large parser, its trees
# for text of many kinds, and from these and the treebanks the small ones. This takes hours on two
# cores, and resumes after an interruption. The encoder of the large one has to be in
# all-mpnet-base-v2; docs/experiments.md says how to get it.
TEXT := $(if $(HEADSPAN_SHARED),$(HEADSPAN_SHARED),../shared)/text/en
MODELS := en en-fast
model: .venv/test-installed
	$(PIP) --editable '.[train]'
	$(BIN)/headspan train configs/en-teacher.toml -o runs/teacher --resume
	$(BIN)/python tools/sample_text.py $(TEXT) -o runs/text --words 50000
	$(BIN)/headspan corpus runs/text -o runs/silver --model runs/teacher/model --confidence --int8
	for name in $(MODELS); do \
	  $(BIN)/headspan train configs/$$name.toml -o runs/$$name --resume && \
	  $(BIN)/python tools/embed_model.py runs/$$name $$name || exit 1; done

# Train the models besides English and write their packages to models/: three seeds per language, a
# student that also learns from the trees on which they vote, and the best of them on dev. This takes
# hours per language on two cores, and resumes after an interruption. `make models LANGUAGES="fr nl"`.
LANGUAGES :=
models: .venv/test-installed
	$(PIP) --editable '.[train]'
	$(BIN)/python tools/train_models.py $(LANGUAGES)

# The next four targets are steps of a release (docs/release.md).
licences: .venv/test-installed
	$(BIN)/python tools/licences.py

lock: .venv/test-installed
	$(BIN)/python tools/lock.py
	$(BIN)/python tools/lock.py --check

dist: .venv/test-installed
	$(BIN)/python tools/build.py

# This needs about 3 GB in the folder for temporary files.
smoke: dist
	$(BIN)/python tools/smoke.py

.venv/pip-ready:
	@test -n "$(PYTHON)" || { echo "headspan needs Python 3.11 or newer; none was found on the PATH" >&2; exit 2; }
	@$(PYTHON) -m venv .venv
	@touch $@

.venv/demo-installed: .venv/pip-ready pyproject.toml constraints.txt
	@echo "Installing headspan into .venv …"
	@$(PIP) --editable .
	@touch $@

.venv/test-installed: .venv/pip-ready pyproject.toml constraints.txt
	@echo "Installing headspan and its test tools into .venv …"
	@$(PIP) --editable '.[dev]'
	@touch $@ .venv/demo-installed

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
