# Every target sets up .venv by itself, and does nothing twice.
PYTHON ?= python3
REQUIREMENTS ?= requirements.txt
MARK ?= not slow
READY := .venv/ready-$(notdir $(REQUIREMENTS))
RUN := .venv/bin/python

.PHONY: course test unit nbval lab lint commit stamp results bench bench-long lock clean

course: $(READY)  ## run the notebooks into runs/: pages, and a table of what ran
	$(RUN) tools/course.py

test: unit nbval  ## unit tests, then every notebook re-executed by nbval

unit: $(READY)
	$(RUN) -m pytest tests -n 2 -m "$(MARK)"

nbval: $(READY)
	$(RUN) -m pytest --nbval-lax notebooks

lab: $(READY)  ## open the notebooks in JupyterLab
	$(RUN) -m jupyterlab notebooks

lint: $(READY)
	$(RUN) -m pip install -q ruff
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

commit: $(READY)  ## execute the notebooks as they are committed, and stamp them
	$(RUN) tools/course.py --commit
	$(RUN) tools/stamp.py

stamp: $(READY)  ## write the repository's address from pyproject.toml into Colab links and install cells
	$(RUN) tools/stamp.py

results: $(READY)  ## the stored runs behind the notebooks' figures: 90 minutes; a killed run goes on where it stopped
	$(RUN) tools/course.py 01_act_background -p EXPERIMENT_SEEDS 10 -p STORE True
	$(RUN) tools/course.py 03_parity -p PRIOR_SEEDS 10 -p BEYOND_SEEDS 10 -p STORE True
	$(RUN) tools/course.py 03_parity -p PRIOR_SIZE large -p PRIOR_SEEDS 10 -p BEYOND_SEEDS 10 -p STORE True
	$(RUN) tools/course.py 04_mnist_rotation -p DATASET mnist -p EXPERIMENT_SEEDS 5 -p STORE True

bench: $(READY)  ## the speed claims, both sides in one run: 4 minutes
	$(RUN) -m pip install -q -e '.[bench]'
	$(RUN) -m benchmarks

bench-long: $(READY)  ## from scratch to 99 % parity, labml-nn's published settings and ours: 20 minutes
	$(RUN) -m pip install -q -e '.[bench]'
	$(RUN) -m benchmarks --long

lock: $(READY)  ## requirements-lock.txt, from what is installed now
	$(RUN) -m pip install -q tensorboard wandb ruff
	(echo "# Exact versions of one Linux x86-64, Python 3.11 environment, for CI. Made by: make lock"; \
	 $(RUN) -m pip freeze --exclude-editable | grep -v ' @ ') > requirements-lock.txt

clean:
	rm -rf .venv runs

$(READY): $(REQUIREMENTS) pyproject.toml
	test -x $(RUN) || $(PYTHON) -m venv .venv
	$(RUN) -m pip install --disable-pip-version-check -q -r $(REQUIREMENTS) -e .
	$(RUN) tools/check_install.py
	touch $@
