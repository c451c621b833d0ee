# Every target sets up .venv by itself, and does nothing twice.
PYTHON ?= python3
PYTHON_OLDEST ?= $(shell python3.10 -c "" 2> /dev/null && echo python3.10 || echo $(PYTHON))
VENV ?= .venv
REQUIREMENTS ?= requirements.txt
MARK ?= not slow
TO ?= runs/students
READY := $(VENV)/ready-$(notdir $(REQUIREMENTS))
RUN := $(VENV)/bin/python
EDITABLE := $(RUN) -m pip install -q --no-build-isolation -e # setuptools is among the requirements
# In the order of their names: else the page 00 comes last, for it has few cells, and one worker waits for it.
NBVAL := $(RUN) -m pytest --nbval --nbval-sanitize-with tests/nbval.cfg -n 2 --dist loadfile --no-loadscope-reorder
OF_PAPERS_SIZE := 03_papers_size 04_rotation_verdict # those with RUN = "paper", which takes in "class"
THAT_TRAIN = $(patsubst notebooks/%.ipynb,%,$(shell grep -l "TRAIN: str" notebooks/*.ipynb))
# Where there is no GPU, PyTorch's build for the CPU, which is far smaller: unless a version is given, or its index does not answer.
CPU_INDEX := https://download.pytorch.org/whl/cpu
CPU_BUILD = test "$$(uname)" != Linux || test -e /dev/nvidia0 || test -e /dev/kfd || test -e /dev/dxg || grep -q "^torch==" $(REQUIREMENTS) \
	|| ! curl -sfm 4 -o /dev/null $(CPU_INDEX)/torch/ || echo --extra-index-url $(CPU_INDEX)
export PIP_DISABLE_PIP_VERSION_CHECK = 1
unexport PYTHONDONTWRITEBYTECODE # where it is set, as in many containers, every kernel would compile torch anew

.PHONY: course look networks test unit nbval evidence test-oldest ready lab lint sources facts commit stamp results bench bench-smoke gpu book slides students dist lock clean

course: $(READY)  ## run the notebooks into runs/: pages, and a table of what ran
	@echo "Every lesson and its evidence, into runs/: a lesson trains one network, and takes a minute or two; evidence"
	@echo "takes seconds. A bar shows each notebook; pages and the table runs/course.md appear as they are done."
	$(RUN) tools/course.py

look: $(READY)  ## the lessons, with all networks from results/ and none trained: seconds each
	$(RUN) tools/course.py $(THAT_TRAIN) -p TRAIN none

networks: $(READY)  ## those networks trained anew, and written to results/
	$(RUN) tools/course.py $(THAT_TRAIN) -p TRAIN store
	$(RUN) tools/course.py 04_mnist_rotation -p TRAIN store -p DATASET digits

test: unit nbval  ## unit tests, then each lesson and problem sheet run once by nbval, with stored networks

unit: $(READY)
	$(RUN) -m pytest tests -n 2 -m "$(MARK)" $(WARNINGS)

nbval: $(READY)
	$(RUN) tools/stored_copies.py
	$(NBVAL) runs/nbval

evidence: $(READY)  ## the evidence: its tests, and its notebooks run once, drawn from stored runs and compared
	$(EDITABLE) './evidence[cluster]'
	$(RUN) -m pytest evidence/tests -n 2 -m "$(MARK)"
	$(NBVAL) evidence/notebooks

test-oldest: .venv-oldest/requirements.txt  ## unit tests with the oldest versions that requirements.txt allows
	$(MAKE) unit VENV=.venv-oldest REQUIREMENTS=$< PYTHON=$(PYTHON_OLDEST) WARNINGS="-W ignore::DeprecationWarning"

.venv-oldest/requirements.txt: requirements.txt
	mkdir -p $(@D)
	sed 's/>=\([^,]*\).*/==\1/' $< > $@

ready: $(READY)  ## set up .venv and nothing else, as Codespaces does

lab: $(READY)  ## open the notebooks in JupyterLab
	$(RUN) -m jupyterlab notebooks --log-level=WARN --KernelManager.transport_encryption=auto

lint: $(VENV)/ready-book  ## style and types: notebooks, packages, tools, benchmarks, examples
	$(RUN) -m pip install -q ruff mypy
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy ponder_utils ponder_course evidence/ponder_evidence tools benchmarks examples book/front book/live

sources: $(READY)  ## the modules of lessons, such as light_cone/lesson.py, from the cells that are tagged `source`
	$(RUN) tools/sources.py

facts: $(READY)  ## the numbers of all texts beside those that the evidence prints
	$(RUN) tools/facts.py

commit: $(READY) sources  ## execute the notebooks as they are committed, and stamp them
	$(RUN) tools/course.py --commit
	$(RUN) tools/stamp.py

stamp: $(READY)  ## write the repository's address, from pyproject.toml, into Colab links and install cells
	$(RUN) tools/stamp.py

results: $(READY)  ## the stored runs that are missing: 40 hours of one core for all; a killed run goes on where it stopped
	$(RUN) tools/course.py $(filter-out $(OF_PAPERS_SIZE),$(notdir $(basename $(shell grep -l "RUN: str" evidence/notebooks/*.ipynb)))) -p RUN class
	$(RUN) tools/course.py $(OF_PAPERS_SIZE) -p RUN paper

bench: $(READY)  ## what halting saves, beside all steps and a loop by hand, in one run: ten minutes
	$(RUN) -m benchmarks

bench-smoke: $(READY)  ## that every row of it can be measured: seconds
	$(RUN) -m benchmarks --smoke

gpu: $(READY)  ## on a machine with a GPU: training's speed into benchmarks/gpu.json, tests that need one, lessons that use one
	$(RUN) -m benchmarks.gpu
	$(RUN) -m pytest tests -m cuda
	$(RUN) tools/course.py $(basename $(notdir $(shell grep -l "DEVICE: str" notebooks/*.ipynb))) -p DEVICE cuda --out runs/gpu

book: $(VENV)/ready-book  ## the web book, runs/book/site/index.html: half a minute, and nothing is executed
	$(RUN) tools/book.py

slides: $(VENV)/ready-book  ## a deck for each lesson, runs/slides/index.html: seconds
	$(RUN) tools/slides.py

students: $(READY)  ## a copy of the course without solutions, for students, into a new folder: TO=folder, or else runs/students
	$(RUN) tools/students.py "$(TO)"

$(VENV)/ready-book: $(READY)
	$(EDITABLE) './course-package[book]'
	touch $@

dist: $(READY)  ## what is uploaded, into dist/, checked as the registry does: the helper alone, and the course
	rm -rf dist
	$(RUN) -m pip install -q build twine
	$(RUN) -m build -q -o dist
	$(RUN) -m build -q --wheel -o dist course-package
	$(RUN) -m twine check --strict dist/*

lock: $(READY)  ## requirements-lock.txt, from what is installed now
	$(EDITABLE) './course-package[book]' -e './evidence[cluster]' ruff mypy tensorboard
	(echo "# Exact versions of one Linux x86-64, Python 3.11 environment, for CI. Made by: make lock"; \
	 echo "# All that is needed, and so installed with PIP_NO_DEPS=1; without triton, which only a GPU needs."; \
	 $(RUN) -m pip freeze --all --exclude-editable | grep -v ' @ \|^pip=\|^triton=') > requirements-lock.txt

clean:
	rm -rf .venv .venv-oldest runs dist build course-package/build evidence/build

$(READY): $(REQUIREMENTS) pyproject.toml course-package/pyproject.toml evidence/pyproject.toml
	@test -e $@ || echo "Setting up $(VENV), once: a few minutes, most of them for PyTorch. Nothing is shown meanwhile."
	@test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(RUN) -m pip install -q --no-compile -r $(REQUIREMENTS) $$($(CPU_BUILD))
	$(EDITABLE) . -e ./course-package -e ./evidence
	$(RUN) -c "import torchvision" # an error where it is of another build than torch
	touch $@
