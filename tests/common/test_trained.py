"""Networks that are trained, stored, or loaded: what is loaded is what was stored, or it is refused."""

import pickle

import pytest
import torch
from torch import nn

from ponder_course.common.trained import TrainOrLoad, set_up
from ponder_utils.checkpoints import DamagedFileError

SETTINGS = [{"width": 3, "seed": seed} for seed in (1, 2)]


def untrained(width, seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, width), nn.Dropout())


def learn(width, seed):
    model = untrained(width, seed)
    model[0].weight.data = torch.randn(2, width).T  # not contiguous
    return model, [{"update": 5, "p": torch.tensor([0.25, 1 / 3])}]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "results" / "00_a_networks.safetensors"


@pytest.fixture
def call(tmp_path):
    """Calls `TrainOrLoad` on files in tmp_path: call("none", settings)."""

    def call(train, settings=SETTINGS, learn=learn, untrained=untrained, BUDGET="class"):
        return TrainOrLoad(train, f"{tmp_path}/results/00_a", 1, BUDGET=BUDGET)(learn, settings, untrained)

    return call


def test_what_is_stored_is_loaded_without_training_in_the_form_in_which_it_was_trained(call, tmp_path):
    trained = call("all")
    assert not [*tmp_path.iterdir()]
    for loaded in (call("store"), call("none", learn=None)):
        for (model, log), (of_model, _) in zip(loaded, trained, strict=True):
            torch.testing.assert_close(model.state_dict(), of_model.state_dict(), rtol=0, atol=0)
            assert log == [{"update": 5, "p": [0.25, 0.3333]}]
            assert not any(part.training for part in model.modules())


def test_one_network_of_the_first_call_alone_is_trained_in_view(tmp_path):
    trained_seeds = []

    def watched(**setting):
        trained_seeds.append(setting["seed"])
        return learn(**setting)

    TrainOrLoad("store", f"{tmp_path}/00_a", 1)(learn, SETTINGS, untrained)
    train_or_load = TrainOrLoad("one", f"{tmp_path}/00_a", 1)
    for _ in range(2):
        results = train_or_load(watched, SETTINGS, untrained)
        assert [model[0].weight.shape for model, _ in results] == [(3, 2)] * 2
    assert trained_seeds == [1]


@pytest.mark.parametrize(("train", "budget", "all_trained"), [("one", "smoke", True), ("none", "smoke", False)])
def test_where_no_networks_are_stored_for_a_budget_all_are_trained_unless_none_may_be(train, budget, all_trained):
    given = {"TRAIN": train, "BUDGET": budget, "WORKERS": 1}
    assert (set_up(given, "00_a").train == "all") is all_trained


def test_some_of_the_stored_networks_are_found_by_their_settings(call):
    first, second = call("store", learn=lambda **setting: learn(**setting)[0])
    assert torch.equal(call("none", SETTINGS[::-1])[0][0].weight, second[0].weight)
    assert torch.equal(call("none", SETTINGS[:1])[0][0].weight, first[0].weight)


def wider(width, seed):
    return untrained(width + 1)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"settings": [{"width": 3, "seed": 3}]}, "seed.* 3 here"),
        ({"BUDGET": "paper"}, "BUDGET.*paper.*class"),
        ({"untrained": wider}, r"0\.weight.*\[4, 2\] here.*\[3, 2\] there"),
    ],
)
def test_other_networks_than_were_stored_are_refused(call, other, words):
    call("store")
    with pytest.raises(ValueError, match=f"TRAIN.*{words}"):
        call("none", **other)


def test_a_file_that_is_not_there_or_is_no_file_of_networks_is_named(call, file):
    with pytest.raises(FileNotFoundError, match=file.name):
        call("none")
    call("store")
    whole = file.read_bytes()
    for content in (b"", whole[:-1], whole[10:], pickle.dumps(whole), whole.replace(b"trained", b"trainee", 1)):
        file.write_bytes(content)
        with pytest.raises(DamagedFileError, match=file.name):
            call("none")


def test_weights_that_are_not_finite_are_refused_and_nothing_is_written(call, file):
    def explodes(**setting):
        model, log = learn(**setting)
        nn.init.constant_(model[0].bias, torch.inf)
        return model, log

    with pytest.raises(ValueError, match=r"0\.bias"):
        call("store", learn=explodes)
    assert not file.exists()
