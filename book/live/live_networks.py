"""The networks of the live figures: where each is stored, and how a page takes its weights. Nothing is trained here.

Most are networks of a lesson, which `train_or_load` has stored in results/. Those that no lesson stores lie beside this
file, in networks.safetensors, which has the same form: each with its settings, and what was measured of it.
"""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from torch import Tensor, nn

from ponder_course.alone_and_together import lesson as forests
from ponder_course.judges.lesson import JudgedLine
from ponder_course.light_cone.lesson import LocalStep
from ponder_course.map_of_thought.lesson import MazeStep
from ponder_course.mnist_rotation.lesson import CNNFirst
from ponder_course.mnist_rotation.patches import Patches
from ponder_course.parity import lesson as parity
from ponder_course.price_of_a_word import experiment as prices
from ponder_course.sudoku.lesson import CoverStep
from ponder_course.sudoku.task import sudoku_groups
from ponder_course.who_leaves_early import experiment as leavers
from ponder_course.words.lesson import Walker
from ponder_utils.pondernet import PonderNet

RESULTS = Path(__file__).resolve().parents[2] / "results"
OWN = Path(__file__).resolve().parent / "networks.safetensors"
Row = dict[str, Any]


@dataclass(frozen=True)
class Network:
    """A network of a live figure: untrained; in which file; and the setting that distinguishes it there."""

    untrained: Callable[[], nn.Module]
    file: Path
    setting: Row = field(default_factory=dict)


def of_lesson(file: str, untrained: Callable[[], nn.Module], **setting: Any) -> Network:
    """Return a network that a lesson has stored."""
    return Network(untrained, RESULTS / f"{file}.safetensors", setting)


def of_figure(figure: str, untrained: Callable[[], nn.Module]) -> Network:
    """Return a network that no lesson stores."""
    return Network(untrained, OWN, {"figure": figure})


def local_net(max_steps: int) -> PonderNet:
    """Return the untrained network of lines, of lessons 05 and 06."""
    return PonderNet(LocalStep(2, 32), max_steps)


def forest_net(memory: str) -> PonderNet:
    """Return the untrained network of lesson 08."""
    return forests.untrained(0, memory, forests.NodeStep)


def sudoku_net() -> PonderNet:
    """Return the untrained network of lesson 10, on boards of 4 x 4 cells."""
    return PonderNet(CoverStep(sudoku_groups(2), 24), 12)


NETWORKS = {
    "line": of_lesson("05_light_cone_networks", lambda: local_net(20), loss_fn="PonderLoss"),
    "line_act": of_lesson("05_light_cone_networks", lambda: local_net(20), **{"loss_fn.price_on_time.tau": 0.03}),
    "vote": of_lesson("06_ways_to_stop_hurried", lambda: local_net(10), seed=11),
    # Lesson 03's network knows all answers at step 3; the figure is about inputs that stop at one step, and lose.
    "parity": of_figure("parity", lambda: parity.untrained(0)),
    "maze": of_lesson("07_map_of_thought_networks", lambda: PonderNet(MazeStep(32), 24)),
    "forest_alone": of_lesson("08_alone_and_together_networks", lambda: forest_net("initial"), memory="initial"),
    "forest_together": of_lesson("08_alone_and_together_networks", lambda: forest_net("current"), memory="current"),
    "judges_two": of_lesson("11_judges_TRM", lambda: JudgedLine(2, 1), n_values=2),
    "judges_five": of_lesson("11_judges_TRM", lambda: JudgedLine(5, 1), n_values=5),
    # All four of one seed, measured on 5,000 digits: lesson 04 stores none without a prior, and measures on 2,000.
    "digit_cnn": of_figure("digit_cnn", lambda: PonderNet(CNNFirst(), 20)),
    "digit_cnn_free": of_figure("digit_cnn_free", lambda: PonderNet(CNNFirst(), 20)),
    "digit_patches": of_figure("digit_patches", lambda: PonderNet(Patches(), 10)),
    "digit_patches_free": of_figure("digit_patches_free", lambda: PonderNet(Patches(), 10)),
    "words_word": of_lesson("12_words_networks", lambda: Walker("word"), carried="word"),
    "words_state": of_lesson("12_words_networks", lambda: Walker("state"), carried="state"),
    "leavers": of_lesson("13_who_leaves_early_networks", lambda: leavers.untrained(0)),
    # Prices in hundredths, each paid after 0.02, by networks of one seed. The first is the lesson's.
    "price_2": of_lesson("14_price_of_a_word_networks", lambda: prices.untrained(0), first=0.02, then="None"),
    "price_20": of_figure("price_20", lambda: prices.untrained(0)),
    "price_28": of_figure("price_28", lambda: prices.untrained(0)),
    "price_32": of_figure("price_32", lambda: prices.untrained(0)),
    "sudoku": of_lesson("10_sudoku_networks", sudoku_net),
}


def value_of(text: str) -> Any:
    """Return a number where `train_or_load` has written one, or else the text."""
    try:
        return json.loads(text)
    except ValueError:
        return text.strip("'")


def stored(name: str) -> tuple[dict[str, Tensor], Row, Any]:
    """Return weights, rounded as a page holds them, setting, and what was measured, of the first with its setting."""
    network = NETWORKS[name]
    with safe_open(network.file, "pt") as opened:
        about = json.loads(opened.metadata()["trained"])
        settings = [{key: value_of(text) for key, text in texts.items()} for texts in about["made_with"]]
        numbers = [number for number, setting in enumerate(settings) if network.setting.items() <= setting.items()]
        if not numbers:
            raise ValueError(f"{network.file} must hold a network with {network.setting}; it holds {settings}")
        prefix = f"{numbers[0]}."
        keys = [key for key in opened.keys() if key.startswith(prefix)]  # noqa: SIM118  (it is no dict)
        weights = {key.removeprefix(prefix): opened.get_tensor(key).half().float() for key in keys}
    return weights, settings[numbers[0]], about["beside"][numbers[0]]


def load(name: str) -> Any:
    """Return a network as it is stored, in evaluation mode."""
    model = NETWORKS[name].untrained()
    model.load_state_dict(stored(name)[0])
    return model.eval()


def encoded(step: nn.Module) -> Row:
    """Return weights as JSON can hold them: {name: {"shape": [...], "float16": little-endian numbers, base64}}."""
    weights = {}
    for name, weight in step.state_dict().items():
        numbers = np.asarray(weight.cpu().half(), "<f2").tobytes()
        weights[name] = {"shape": list(weight.shape), "float16": base64.b64encode(numbers).decode()}
    return weights


def write_weights(folder: Path) -> None:
    """Write a file of each network into a folder, which is made.

    It is JSON behind `live.weights.NAME =`: a page that is opened as a file may load scripts, but no JSON.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, network in NETWORKS.items():
        _, setting, measured = stored(name)
        model = load(name)
        step = model.step if isinstance(model, PonderNet) else model
        page = {"setting": setting, "weights": encoded(step)}
        if network.file == OWN:
            page["checked"] = measured
        (folder / f"{name}.js").write_text(f"live.weights.{name} = {json.dumps(page)};\n", encoding="utf-8")
