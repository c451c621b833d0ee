"""Where modules of the course were before: notebooks that were copied then go on.

An import by an old name gives the module at its new place, and warns. To be deleted with version 0.4.
"""

import sys
import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

FOLDERS = ("experiments", "figures")
MOVED = {
    "curriculum": "common.curriculum",
    "digits": "common.digits",
    "fingerprint": "common.fingerprint",
    "muon": "common.muon",
    "notebook": "common.notebook",
    "runs": "common.runs",
    "store": "common.store",
    "verdicts": "common.verdicts",
    "widgets": "common.widgets",
    "experiments.act_background": "act_background.experiment",
    "experiments.act_presentation": "research.act_background.presentation",
    "experiments.parity": "parity.experiment",
    "experiments.papers_size": "research.parity.papers_size",
    "experiments.mnist_rotation": "mnist_rotation.experiment",
    "experiments.mnist_networks": "mnist_rotation.networks",
    "experiments.light_cone": "light_cone.experiment",
    "experiments.beating_the_clock": "research.light_cone.beating_the_clock",
    "experiments.local_stoppers": "light_cone.local_stoppers",
    "experiments.ways_to_stop": "research.ways_to_stop.experiment",
    "experiments.ways_to_stop_judge": "research.ways_to_stop.judge",
    "experiments.ways_to_stop_problems": "research.ways_to_stop.problems",
    "experiments.ways_to_stop_ranking": "ways_to_stop.regret",
    "experiments.ways_to_stop_supervision": "ways_to_stop.supervision",
    "experiments.mazes": "map_of_thought.experiment",
    "experiments.maze_paths": "research.map_of_thought.paths",
    "experiments.rubble": "research.map_of_thought.rubble",
    "experiments.forests": "alone_and_together.experiment",
    "experiments.inference": "research.alone_and_together.inference",
    "experiments.programs": "research.alone_and_together.programs",
    "experiments.columns": "adding_a_column.experiment",
    "experiments.act_tasks": "research.adding_a_column.act_tasks",
    "experiments.act_characters": "research.adding_a_column.act_characters",
    "experiments.act_evidence": "research.adding_a_column.act_evidence",
    "light_cone.task": "common.lines",
    "figures.style": "common.style",
    "figures.machines": "common.machines",
    "figures.training": "research.parity.learning_curves",
    "figures.act_background": "act_background.figures",
    "figures.parity": "parity.figures",
    "figures.mnist_rotation": "mnist_rotation.figures",
    "figures.light_cone": "light_cone.figures",
    "figures.ways_to_stop": "ways_to_stop.figures",
    "figures.mazes": "map_of_thought.figures",
    "figures.forests": "alone_and_together.figures",
    "figures.columns": "adding_a_column.figures",
}


class OldNames(MetaPathFinder, Loader):
    """Finds modules by the names that they had, when nobody else does."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return where to find it, None if it is no old name."""
        package, _, name = fullname.partition(".")
        if package != "ponder_course" or (name not in MOVED and name not in FOLDERS):
            return None
        return ModuleSpec(fullname, self, is_package=name in FOLDERS)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module at its new place; for a folder an empty one."""
        name = spec.name.partition(".")[2]
        if name in FOLDERS:
            return ModuleType(spec.name)
        new = f"ponder_course.{MOVED[name]}"
        warnings.warn(f"{spec.name} is {new} now", FutureWarning, stacklevel=2)
        module = import_module(new)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module back what says where it is; it has been executed."""
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            module.__spec__ = spec.loader_state


sys.meta_path.append(OldNames())
