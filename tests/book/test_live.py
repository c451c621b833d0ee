"""The live figures of the book: their networks in the browser against PyTorch, and the reader's hands."""

import itertools
import sys
from pathlib import Path

import browser
import pytest
import torch
from torch.nn.functional import softplus

from ponder_course.act_background.figures import pulls_on_the_first
from ponder_course.act_background.scripted import halt
from ponder_course.adding_a_column.experiment import ColumnStep
from ponder_course.adding_a_column.experiment import halt as halt_columns
from ponder_course.adding_a_column.task import ColumnTask
from ponder_course.alone_and_together.experiment import attention_by_step
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.lines import LineParityTask, all_of_one_segment, whole_lines_right
from ponder_course.common.local import LocalStep
from ponder_course.common.measures import at_step
from ponder_course.judges.experiment import halting_steps as halting_steps_of_lines
from ponder_course.judges.experiment import think as think_of_lines
from ponder_course.judges.task import SumTask
from ponder_course.light_cone.beating_the_clock import votes
from ponder_course.sudoku.experiment import halt as halt_sudokus
from ponder_course.sudoku.search import fits, left, think_until_quiet
from ponder_course.sudoku.task import SudokuTask, signs, sudoku_groups
from ponder_evidence.sudoku.hard import n_solutions
from ponder_utils import ParityTask, PonderNet, PonderSequence, RNNStep
from ponder_utils.halting import expected_steps, geometric_log_prior, halting_log_probs, kl_divergence
from ponder_utils.rules import halting_steps

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tools"), str(ROOT / "book" / "live")]
import live  # noqa: E402
import live_networks as networks  # noqa: E402

# The weights


@pytest.mark.parametrize("name", networks.NETWORKS)
def test_weights_are_those_of_a_network_that_is_as_good_as_its_file_says(name):
    network, model, file = networks.NETWORKS[name], networks.load(name), networks.read(name)
    if network.check is networks.check_digits and not (networks.DATA / "MNIST").exists():
        pytest.skip("it reads MNIST, which is not in data/")
    assert networks.encoded(network.part(model), network.n_bytes) == file["weights"]
    for seed, tolerance in ((0, 0.002), (1, 0.01)):  # those of the file, and others
        found, stated = network.check(model, seed), file["checked"]
        pairs = [(found, stated)] if "right" in stated else [(found[size], stated[size]) for size in stated]
        for ours, theirs in pairs:
            assert ours["right"] == pytest.approx(theirs["right"], abs=tolerance)
            assert theirs["right"] > network.at_least


def test_weights_that_the_page_cannot_use_are_refused():
    with pytest.raises(ValueError, match="multiple of 4"):
        networks.encoded(LocalStep(2, 6))
    step = LocalStep(2, 4)
    with torch.no_grad():
        step.heads.bias[0] = torch.inf
    with pytest.raises(ValueError, match=r"heads\.bias"):
        networks.encoded(step)


# In the browser


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    live.write_pages(folder)
    return folder


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as started:
        yield started


@pytest.fixture
def opened(chromium, pages):
    """Opens the page of a figure, without motion unless asked for; whatever goes wrong in it fails the test."""
    faults, contexts = [], []

    def open_page(name, width=1400, bet="none", motion="reduce", **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, reduced_motion=motion, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: line.type == "error" and faults.append(line.text))
        page.on("request", lambda request: request.url.startswith(pages.as_uri()) or faults.append(request.url))
        page.goto((pages / f"{name}.html").as_uri())
        if bet:
            page.click(f".live-bet button[data-bet='{bet}']")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


FIGURES = [name for _, name in live.FIGURES.values()]


def seen(page, name):
    return page.evaluate(f"live.{name}.seen")


def arrived(page):
    """Wait until what has been asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def slide(page, which, value):
    """Move a slider of the figure, counted from 0."""
    page.locator(".live-slider input").nth(which).evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", value
    )


def drag(page, start, end):
    """Drag the mouse from a point of the screen to another."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=6)
    page.mouse.up()


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_is_legible_and_no_wider_than_its_screen(opened, name):
    for bet in (None, "none"):
        page = opened(name, bet=bet)
        for width in (1400, 400, 320):
            page.set_viewport_size({"width": width, "height": 900})
            for theme in ("light", "dark"):
                page.evaluate(f"document.body.dataset.theme = '{theme}'")
                assert page.evaluate(browser.TOO_WIDE) == []
                assert page.evaluate(browser.CONTRAST) == []


WRITTEN = """(name) => {
    const [found, plain] = [[], CanvasRenderingContext2D.prototype.fillText];
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        const wide = this.measureText(text).width;
        const left = x - {left: 0, center: wide / 2, right: wide}[this.textAlign];
        const size = parseFloat(this.font.replace('bold ', ''));
        found.push({text: String(text), left, right: left + wide, top: y - 0.4 * size, bottom: y + 0.4 * size, size});
    };
    live[name].redraw();
    CanvasRenderingContext2D.prototype.fillText = plain;
    return [found, document.querySelector("canvas").clientWidth];
}"""


@pytest.mark.parametrize("name", FIGURES)
def test_words_in_the_picture_are_large_enough_inside_and_apart(opened, name):
    page = opened(name)
    for width in (1400, 400, 360):
        page.set_viewport_size({"width": width, "height": 900})
        arrived(page)
        words, inside = page.evaluate(WRITTEN, name)
        assert len(words) > 5
        for word in words:
            assert word["size"] >= 13
            assert word["left"] >= -0.5
            assert word["right"] <= inside + 0.5, word["text"]
        for one, other in itertools.combinations(words, 2):
            beside = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert beside or one["bottom"] <= other["top"] or other["bottom"] <= one["top"], (one, other)


@pytest.mark.parametrize("name", FIGURES)
def test_a_bet_comes_first_and_is_kept(opened, name):
    page = opened(name, bet=None)
    assert not page.locator(".live-words").is_visible()
    bets = page.locator(".live-bet button").evaluate_all("found => found.map((button) => button.dataset.bet)")
    assert len(bets) >= 3
    page.click(f".live-bet button[data-bet='{bets[0]}']")
    verdict = page.inner_text(".live-bet p")
    assert page.locator(".live-words").is_visible()
    assert page.get_attribute(".live-words", "aria-live") == "polite"
    page.reload()
    assert page.inner_text(".live-bet p") == verdict
    with page.expect_navigation():  # to the first picture, of which the question speaks
        page.click(".live-bet button")
    assert not page.locator(".live-words").is_visible()


@pytest.mark.parametrize("name", FIGURES)
def test_pointing_at_words_lights_the_picture(opened, name):
    page = opened(name)
    picture = "document.querySelector('canvas').toDataURL()"
    before = page.evaluate(picture)
    for button in page.locator(".live-legend button").all():
        button.focus()
        assert page.evaluate(f"live.{name}.lit") == button.get_attribute("data-part")
        assert page.evaluate(picture) != before


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in ("column", "vote")])
def test_what_moves_comes_to_an_end(opened, name):
    page = opened(name, bet=None, motion="no-preference")
    page.click(".live-bet button")
    page.wait_for_function("document.querySelector('.live-words').ariaBusy === 'true'")
    early = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.wait_for_function("document.querySelector('.live-words').ariaBusy !== 'true'")
    assert page.evaluate("document.querySelector('canvas').toDataURL()") != early


THINK = """([weights, near, x, steps]) => {
    const together = live.together(live.read(weights), near ?? live.row(x.length), x);
    const found = Array.from({ length: steps }, (_, n) => together(n + 1));
    return ["answer", "halt"].map((name) => found.map((places) => places.map((place) => place[name])));
}"""


def in_page(page, step, x, n_steps, near=None):
    """Return answers and halting logits after each step, [2, n_steps, places], of x [places, inputs]."""
    found = page.evaluate(THINK, [networks.encoded(step), near, x.tolist(), n_steps])
    return torch.tensor(found, dtype=torch.float64)


@torch.no_grad()
def test_a_line_thinks_in_the_page_as_in_pytorch(opened):
    page, trained = opened("line"), networks.load("line").step
    torch.manual_seed(0)
    cases = [(trained, n) for n in (1, 2, 16, 33, 64, 80)] + [(LocalStep(2, 8).eval(), n) for n in (1, 5, 20)]
    for step, n in cases:
        x, _ = LineParityTask(n).batch(1)
        ours = in_page(page, step, x[0].T, 80)
        for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-9)):
            output = PonderNet(step.to(dtype), 80)(x.to(dtype))
            assert (ours[0] - output.y_hat[:, 0]).abs().max() < tolerance
            assert (ours[1].amin(1) - output.halt_logits[:, 0]).abs().max() < tolerance
        step.float()


@torch.no_grad()
def test_one_place_thinks_in_the_page_as_in_pytorch(opened):
    page, trained = opened("parity"), networks.load("parity").step
    torch.manual_seed(0)
    for step in (trained, RNNStep(8, 12)):
        x, _ = ParityTask(8).batch(12)
        ours = [in_page(page, step, row[None], 40, near=[[[0, 0]]])[:, :, 0] for row in x]  # 20 steps more than trained
        for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-9)):
            output = PonderNet(step.to(dtype), 40)(x.to(dtype))
            for i, (answer, halting) in enumerate(ours):
                assert (answer - output.y_hat[:, i]).abs().max() < tolerance
                assert (halting - output.halt_logits[:, i]).abs().max() < tolerance
                p = torch.tensor(page.evaluate("(a) => live.halting(a.map(live.sigmoid))", halting.tolist()))
                assert (p - output.log_p[:, i].exp()).abs().max() < 1e-5
        step.float()


@torch.no_grad()
def test_columns_think_in_the_page_as_in_pytorch(opened):
    page, model = opened("column"), networks.load("column")
    torch.manual_seed(0)
    for step, width in ((model.step, 16), (model.step, 40), (ColumnStep(8).eval(), 5)):
        x, _ = ColumnTask(width, 1).batch(1)
        h = torch.randn(width, step.from_h.out_features, dtype=torch.float64).tanh()
        theirs, state = PonderSequence(step.double(), 50, "last").unroll(x.double(), h[None])
        first, later = ([[digit, flag] for digit in x.flatten().tolist()] for flag in (1, 0))
        found = page.evaluate(
            """([weights, x, first, h]) => {
                const together = live.together(live.read(weights), live.row(x.length), x, { x: first, h });
                const steps = Array.from({ length: 50 }, (_, n) => together(n + 1));
                const answers = steps.map((places) => places.map(({ answer }) => answer));
                return [...answers, steps[49].flatMap(({ h }) => [...h])];
            }""",
            [networks.encoded(step), later, first, h.tolist()],
        )
        assert (torch.tensor(found[:50], dtype=torch.float64) - theirs.y_hat[:, 0]).abs().max() < 1e-9
        assert (torch.tensor(found[50], dtype=torch.float64) - state.flatten()).abs().max() < 1e-9


# Lesson 06


@torch.no_grad()
def of_votes(page):
    """Return what is shown, after a look at whether it is what the networks do in PyTorch."""
    found = seen(page, "vote")
    x = all_of_one_segment(6).view(2, 2, 2, 2, 2, 2, 2, 6).permute(5, 4, 3, 2, 1, 0, 6, 7).reshape(64, 2, 6)
    output = networks.load("vote" if found["rule"] == "head" else "line")(x, max_steps=10)
    by_place = output.y_hat.abs().sigmoid()
    if found["rule"] == "head":
        by_place = votes(networks.load("vote").step, x, 10).sigmoid()
    objects = by_place < found["level"]
    assert (by_place - found["level"]).abs().min() > 1e-6
    assert torch.equal(torch.tensor(found["objects"]).transpose(0, 1), objects)
    agreed = ~objects.any(-1)
    halts = torch.where(agreed.any(0), agreed.int().argmax(0) + 1, 10)
    assert found["halts"] == halts.tolist()
    answers = output.y_hat[halts - 1, torch.arange(64)]
    assert found["right"] == whole_lines_right(answers, LineParityTask.answers(x)).tolist()
    assert x[found["mine"], 0].tolist() == found["bits"]
    return found


def test_who_objects_is_so_in_pytorch_and_hands_choose_the_line(opened):
    page = opened("vote")
    found = of_votes(page)
    early = [line for line, halt in enumerate(found["halts"]) if halt < 6]
    assert 0 < len(early) <= 32  # of a line and its twin one at most
    assert all(found["right"])
    assert not {line ^ 32 for line in early} & set(early)
    page.get_by_role("button", name="Turn the first bit").click()
    assert of_votes(page)["mine"] == found["mine"] ^ 32
    area, places = page.locator("canvas").bounding_box(), page.evaluate("live.vote.spec.places()")
    page.mouse.click(area["x"] + places["line"][5][0], area["y"] + places["line"][5][1])
    assert of_votes(page)["bits"] == [0, 0, 0, 1, 0, 1]
    page.mouse.click(area["x"] + places["bit"][1][0], area["y"] + places["bit"][1][1])
    page.focus("canvas")
    for key in ("ArrowRight", "ArrowRight", " "):
        page.keyboard.press(key)
    assert of_votes(page)["bits"] == [0, 1, 1, 1, 0, 1]
    page.get_by_role("button", name="When all are sure").click()
    assert set(of_votes(page)["halts"]) == {6}
    slide(page, 0, 0.7)
    assert not all(of_votes(page)["right"])
    page.get_by_role("button", name="Learnt").click()
    slide(page, 0, 0.95)
    assert set(of_votes(page)["halts"]) == {10}  # never: the last step


# Lesson 01


def of_units(page):
    """Return the halting values, after a look at whether all that is shown of them is true, by autograd."""
    found = seen(page, "units")
    units = torch.tensor(found["units"], dtype=torch.float64, requires_grad=True)
    weights = halt(list(units), found["epsilon"])
    assert found["weights"] == pytest.approx(halt(found["units"], found["epsilon"]))
    answers = [0.0] + 4 * [4.0 * found["know"]]
    answer = sum(weight * alone for weight, alone in zip(weights, answers, strict=False))
    parts = {"up": -found["tau"] * (len(weights) + weights[-1]), "down": softplus(-(answer + 0 * units.sum()))}
    for name, part in parts.items():
        (slopes,) = torch.autograd.grad(part + 0 * units.sum(), units, retain_graph=True)
        assert found[name] == pytest.approx(slopes[0].item(), abs=1e-12)
    return found["units"]


def test_pulls_are_those_of_the_lesson(opened):
    page = opened("units")
    for tau, epsilon, y_hat_2 in ((0.5, 0.01, 4.0), (0.2, 0.1, 4.0), (1.0, 0.3, 0.0)):
        slide(page, 0, tau)
        slide(page, 1, epsilon)
        if y_hat_2 == 0:
            page.get_by_role("button", name="know the answer").click()
        first, *theirs = pulls_on_the_first(y_hat_2, tau, epsilon)
        ours = page.evaluate("(first) => first.map(live.units.spec.pulls)", first.tolist())
        for name, values in zip(("up", "down"), theirs, strict=True):
            assert [pull[name] for pull in ours] == pytest.approx(values.tolist(), abs=1e-12)


def test_hands_move_halting_values(opened):
    page = opened("units")
    of_units(page)
    area, at = page.locator("canvas").bounding_box(), page.evaluate("live.units.spec.places()")
    level = page.evaluate("[0.05, 0.2, 0.4, 0.73].map(live.units.spec.places().bars.level)")
    x = [area["x"] + middle for middle in page.evaluate("[1, 2].map(live.units.spec.places().bars.middle)")]
    page.mouse.click(x[0], area["y"] + level[0])
    drag(page, (x[1], area["y"] + level[3]), (x[1] + 30, area["y"] + level[1]))
    units = of_units(page)
    assert units == pytest.approx([0.05, 0.2, 0.73, 0.73, 0.73], abs=0.01)
    page.focus("canvas")
    for key in ("ArrowUp", "ArrowRight", "ArrowRight", "Shift+ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    expected = [units[0] + 0.01, units[1], units[2] - 0.11, *units[3:]]
    assert of_units(page) == pytest.approx(expected)
    here, there = page.evaluate("[live.units.seen.units[0], 0.995].map(live.units.spec.places().axis.x)")
    zero = area["y"] + at["zero"]
    drag(page, (area["x"] + here, zero), (area["x"] + there, zero))
    assert of_units(page)[0] == pytest.approx(0.995, abs=0.001)
    assert [seen(page, "units")[pull] for pull in ("up", "down")] == [0, 0]


def test_let_go_the_first_halting_value_comes_to_rest_unless_it_is_beyond_the_threshold(opened):
    page = opened("units")
    let_go = page.get_by_role("button", name="Let go")
    know = page.get_by_role("button", name="know the answer")
    found = seen(page, "units")
    assert found["up"] == pytest.approx(found["down"], abs=0.01)
    know.click()
    let_go.click()
    beyond = of_units(page)
    assert beyond[0] >= 0.99
    know.click()
    let_go.click()
    assert of_units(page) == beyond


# Lesson 02


def of_losses(page):
    """Return losses and halting probabilities, after a look at whether all that is shown of them is true."""
    found = seen(page, "losses")
    losses, lambdas = (torch.tensor(found[name], dtype=torch.float64) for name in ("losses", "lambdas"))
    a = lambdas.logit().requires_grad_()
    log_p, log_g = halting_log_probs(a), geometric_log_prior(found["rate"], 5)
    direction = "p_G||p" if found["reversed"] else "p||p_G"

    def divergence(log_p):
        return found["beta"] * kl_divergence(log_p, log_g, direction)

    for name, part in {"losses": (log_p.exp() * losses).sum(), "prior": divergence(log_p)}.items():
        (slopes,) = torch.autograd.grad(part, a, retain_graph=True)
        assert found["pulls"][name] == pytest.approx(slopes[:4].tolist(), abs=1e-12)
    assert found["p"] == pytest.approx(log_p.exp().tolist())
    assert found["prior"] == pytest.approx(log_g.exp().tolist())
    assert found["act"] == len(halt(found["lambdas"], 0.01))
    assert sum(found["best"]) == pytest.approx(1)
    best = torch.tensor(found["best"], dtype=torch.float64).clamp(min=1e-300).log().requires_grad_()
    log_best = best.log_softmax(0)  # where the loss, which is convex in p, has no slope
    (slope,) = torch.autograd.grad((log_best.exp() * losses).sum() + divergence(log_best), best)
    assert slope.abs().max() < 1e-9
    return found["losses"], found["lambdas"]


def test_the_best_halting_and_the_pulls_are_those_of_the_lesson(opened):
    page = opened("losses")
    generator = torch.Generator().manual_seed(0)
    for case in range(20):
        if case == 10:
            page.get_by_role("button", name="wrong way round").click()
        slide(page, 0, round(-2 + 2 * torch.rand(1, generator=generator).item(), 1))
        slide(page, 1, 0.05 * torch.randint(1, 20, (1,), generator=generator).item())
        heights = torch.rand(2, 5, generator=generator).tolist()
        page.evaluate(
            """([losses, p]) => {
                const places = live.losses.spec.places();
                losses.forEach((height, i) => places.losses.pull(i, {y: places.losses.level(height)}));
                p.forEach((height, i) => places.p.pull(i, {y: places.p.level(height)}));
            }""",
            heights,
        )
        losses, _ = of_losses(page)
        assert losses == pytest.approx(heights[0], abs=0.006)


def test_hands_move_losses_and_halting(opened):
    page = opened("losses")
    area = page.locator("canvas").bounding_box()
    x, up, down = page.evaluate(
        """() => {
            const { losses, p } = live.losses.spec.places();
            return [[1, 2, 3].map(losses.middle), losses.level(0.6), p.level(0.5)];
        }"""
    )
    before = of_losses(page)
    drag(
        page,
        (area["x"] + x[0], area["y"] + page.evaluate("live.losses.spec.places().losses.level(0.05)")),
        (area["x"] + x[0], area["y"] + up),
    )
    page.mouse.click(area["x"] + x[1], area["y"] + down)
    losses, lambdas = of_losses(page)
    assert losses[0] == pytest.approx(0.6, abs=0.02)
    assert seen(page, "losses")["p"][1] == pytest.approx(0.5, abs=0.02)
    assert (losses[1:], lambdas[2:]) == (before[0][1:], before[1][2:])
    page.focus("canvas")
    for key in ("ArrowRight", "ArrowUp", "ArrowUp", "ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    assert of_losses(page)[0][1] == pytest.approx(0.1)
    assert of_losses(page)[1][1] == pytest.approx(lambdas[1] - 0.05)
    here, there = page.evaluate("[live.losses.seen.lambdas[0], 0.9].map(live.losses.spec.places().axis.x)")
    zero = area["y"] + page.evaluate("live.losses.spec.places().zero")
    drag(page, (area["x"] + here, zero), (area["x"] + there, zero))
    assert of_losses(page)[1][0] == pytest.approx(0.9, abs=0.01)


def test_training_brings_the_halting_to_the_best(opened):
    page = opened("losses")
    for button in (None, "Solved at step 3", "wrong way round", "Solved at step 1"):
        if button:
            page.get_by_role("button", name=button).click()
            page.get_by_role("button", name="Train").click()
        of_losses(page)
        found = seen(page, "losses")
        assert found["p"] == pytest.approx(found["best"], abs=0.02)


# Lesson 03


@torch.no_grad()
def of_parity(page):
    """Return the elements and the common step, after a look at whether all that is shown is true."""
    found, model = seen(page, "parity"), networks.load("parity").double()
    x = torch.tensor([found["x"]]).double()
    output = model(x)
    odd = output.y_hat[:, 0].sigmoid()
    assert found["truth"] == (x == 1).sum().item() % 2
    assert (torch.tensor(found["chance"]).double() - odd).abs().max() < 1e-5
    assert (torch.tensor(found["p"]).double() - output.log_p[:, 0].exp()).abs().max() < 1e-5
    assert found["halt"] == output.log_p[:, 0].argmax().item() + 1
    assert found["right"] == ((odd > 0.5) == found["truth"]).tolist()
    return found["x"], found["stop"]


def test_hands_change_elements_and_the_common_step(opened):
    page = opened("parity")
    x, stop = of_parity(page)
    assert (x[2], stop) == (0, 3)
    area, where = page.locator("canvas").bounding_box(), page.evaluate("live.parity.spec.places().element")
    for value in (1, -1, 0, 1):
        page.mouse.click(area["x"] + where[2], area["y"] + 20)
        x[2] = value
        assert of_parity(page) == (x, 3)
    middle = page.evaluate("[3, 7, 20].map(live.parity.spec.places().middle)")
    grip = area["y"] + page.evaluate("live.parity.spec.places().grip")
    drag(page, (area["x"] + middle[0], grip), (area["x"] + middle[1], grip + 90))
    assert of_parity(page) == (x, 7)
    page.mouse.click(area["x"] + middle[2], grip + 120)
    assert of_parity(page) == (x, 20)
    page.focus("canvas")
    for key in ("ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowRight", " "):
        page.keyboard.press(key)
    x[1] = 0
    assert of_parity(page) == (x, 19)
    slide(page, 0, 4)
    page.get_by_role("button", name="wrong there").click()
    _, stop = of_parity(page)
    assert stop == 4
    assert not seen(page, "parity")["right"][3]


# Lesson 04

NETWORKS_OF_DIGITS = {"cnn": "digit_cnn", "patches": "digit_patches"}


@torch.no_grad()
def of_digit(page, ending=""):
    """Return what is shown, after a look at whether it is what the networks do in PyTorch with these pixels."""
    found = seen(page, "digit")
    pixels = torch.tensor(found["pixels"], dtype=torch.float32).view(1, 1, 28, 28)
    for kind, name in NETWORKS_OF_DIGITS.items():
        shown, model = found["networks"][kind], networks.load(name + ending)
        output = model(pixels)
        p = output.log_p[:, 0].exp()
        assert torch.tensor(shown["p"]) == pytest.approx(p, abs=1e-5)
        assert shown["steps"] == pytest.approx(expected_steps(output.log_p).item(), abs=1e-4)
        two = output.y_hat[:, 0].topk(2).values
        clear = two[:, 0] - two[:, 1] > 1e-4
        assert torch.equal(torch.tensor(shown["says"])[clear], output.y_hat[:, 0].argmax(1)[clear])
        lambda_p = networks.read(name)["setting"]["lambda_p"]
        expected = geometric_log_prior(lambda_p, len(p)).exp().tolist()
        assert shown["prior"] == (None if ending else pytest.approx(expected))
    return found


@torch.no_grad()
@pytest.mark.parametrize("name", ["digit_cnn", "digit_patches_free"])
def test_digits_are_read_in_the_page_as_in_pytorch(opened, name):
    page, model = opened("digit"), networks.load(name).double()
    torch.manual_seed(0)
    for pixels in (torch.rand(28, 28).double(), torch.zeros(28, 28).double(), torch.eye(28).double().flip(0) * 0.7):
        found = page.evaluate(
            "([weights, pixels]) => live.reading(live.reader(weights), pixels, 30)",
            [networks.encoded(model.step, 2), pixels.flatten().tolist()],
        )
        output = model(pixels[None, None], max_steps=30)
        for part, theirs in (("answer", output.y_hat), ("halt", output.halt_logits)):
            ours = torch.tensor([step[part] for step in found], dtype=torch.float64)
            torch.testing.assert_close(ours, theirs[:, 0], rtol=1e-9, atol=1e-9)


def test_strokes_become_the_ink_that_is_near_them_and_turn_as_images_do(opened):
    page = opened("digit")
    paint = "([strokes, degrees]) => live.pixels(live.turned(strokes, degrees))"
    strokes = [[[14, 4], [14, 20], [20, 20]], [[5, 9]]]
    image = torch.tensor(page.evaluate(paint, [strokes, 0])).view(28, 28)
    assert image[4:20, 13:15].min() == 1  # pixels on both sides of the line
    assert image[:, 24:].max() == 0
    assert (image[8:10, 4:6] > 0.9).all()  # the dot
    for quarter in (1, 2, -1):
        turned = torch.tensor(page.evaluate(paint, [strokes, 90 * quarter])).view(28, 28)
        assert (turned - image.rot90(quarter)).abs().max() < 1e-9
    assert page.evaluate(paint, [[], 0]) == [0] * 28**2


def test_every_digit_is_read_rightly_upright_with_and_without_a_prior(opened):
    page = opened("digit")
    for ending, button in (("", "with a prior"), ("_free", "without")):
        page.get_by_role("button", name=button, exact=True).click()
        for _ in range(10):
            page.get_by_role("button", name="Another digit").click()
            found = of_digit(page, ending)
            for shown in found["networks"].values():
                assert shown["says"][shown["p"].index(max(shown["p"]))] == found["digit"]


def test_hands_turn_choose_and_draw_digits(opened):
    page = opened("digit")
    before = of_digit(page)
    slide(page, 0, 60)
    assert of_digit(page)["angle"] == 60
    page.focus("canvas")
    for key in ("ArrowUp", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    assert of_digit(page)["angle"] == 75
    page.keyboard.press("ArrowRight")
    found = of_digit(page)
    assert (found["digit"], found["angle"]) == ((before["digit"] + 1) % 10, 0)
    page.keyboard.press("ArrowLeft")
    assert of_digit(page) == before
    area = page.locator("canvas").bounding_box()

    def on_screen(point):
        x, y = page.evaluate("(point) => live.digit.spec.places().pixel(point)", point)
        return area["x"] + x, area["y"] + y

    slide(page, 0, 90)
    drag(page, on_screen([14, 5]), on_screen([14, 23]))  # a digit of one's own begins upright
    found = of_digit(page)
    assert (found["digit"], found["angle"]) == (None, 0)
    image = torch.tensor(found["pixels"]).view(28, 28)
    assert image[5:23, 13:15].min() > 0.9
    assert image[:, :11].max() == 0
    slide(page, 0, 90)
    drag(page, on_screen([8, 18]), on_screen([20, 18]))  # a further stroke stays where it is drawn
    image = torch.tensor(of_digit(page)["pixels"]).view(28, 28)
    assert image[13:15, 5:23].min() > 0.9
    assert image[17:19, 8:20].min() > 0.9
    page.get_by_role("button", name="Clear").click()
    assert sum(of_digit(page)["pixels"]) == 0


# Lesson 05


def of_line(page):
    """Return bits and walls of the line, after a look at whether all that is shown of them is true."""
    found = seen(page, "line")
    x = torch.tensor([[found["bits"], found["walls"]]]).double()
    assert found["need"] == LineParityTask.needed_steps(x)[0].tolist()
    assert found["truth"] == LineParityTask.answers(x)[0].tolist()
    halted = networks.load("line").double().predict(x, "threshold", q=0.2, max_steps=x.shape[2] + 4)
    assert found["halt"] == halted.steps.item()
    assert found["odd"][found["halt"] - 1] == (halted.y_hat[0] > 0).int().tolist()
    for odd, right in zip(found["odd"], found["right"], strict=True):
        assert right == [answer == true for answer, true in zip(odd, found["truth"], strict=True)]
    return found["bits"], [place for place, wall in enumerate(found["walls"]) if wall]


def places(page):
    """Return where the places begin on the screen, and the heights of the walls' handles and of the bits."""
    area = page.locator("canvas").bounding_box()
    inside = page.evaluate("live.line.seen.bits.map((_, i) => live.line.spec.left(i))")
    return [area["x"] + left for left in inside], area["y"] + 12, area["y"] + 38


def test_a_mouse_flips_bits_and_moves_walls(opened):
    page = opened("line")
    bits, walls = of_line(page)
    x, at_walls, at_bits = places(page)
    page.mouse.click((x[3] + x[4]) / 2, at_bits)
    bits[3] ^= 1
    assert of_line(page) == (bits, walls)
    drag(page, (x[walls[1]], at_walls), (x[20], at_walls + 100))
    del walls[1]
    assert of_line(page) == (bits, [*walls, 20])
    page.mouse.click(x[20], at_walls)
    assert of_line(page) == (bits, walls)
    page.mouse.click(x[28], at_walls)
    assert of_line(page) == (bits, [*walls, 28])
    page.mouse.click(x[0], at_walls)  # the first wall stays
    assert of_line(page) == (bits, [*walls, 28])
    page.mouse.move((x[30] + x[31]) / 2, at_bits + 60)
    assert "31" in page.inner_text(".live-note")


def test_keys_flip_bits_and_move_walls(opened):
    page = opened("line")
    bits, walls = of_line(page)
    page.focus("canvas")
    for key in ["ArrowRight"] * 2 + [" ", "w", "Shift+ArrowRight", "ArrowRight", "w"]:
        page.keyboard.press(key)
    bits[2] ^= 1
    assert of_line(page) == (bits, sorted([*walls, 3, 4]))
    for key in ["ArrowLeft"] * 9 + ["w", "Shift+ArrowRight", " "]:
        page.keyboard.press(key)
    bits[0] ^= 1
    assert of_line(page) == (bits, sorted([*walls, 3, 4]))  # the first wall stays where it is


def test_lines_of_all_lengths(opened):
    page = opened("line")
    for n in (8, 64, 13):
        slide(page, 0, n)
        assert len(of_line(page)[0]) == n
    page.get_by_role("button", name="No walls").click()
    assert of_line(page)[1] == [0]
    page.get_by_role("button", name="New line").click()
    assert len(of_line(page)[0]) == 13


# Lesson 08


@torch.no_grad()
def of_forest(page):
    """Return the parents, after a look at whether all that is shown of them is true."""
    found = seen(page, "forest")
    model, alone = networks.load(f"forest_{found['kind']}").double(), found["kind"] == "alone"
    parents = torch.tensor([found["parents"] + list(range(16, 32))])
    output = model(parents, max_steps=16)
    reads = attention_by_step(model.step, parents, 16)[:, 0, :16]
    steps = halting_steps(output, "threshold", q=0.5)
    answers = at_step(output.y_hat.argmax(-1), steps)[0]
    needed, depths = ForestTask.needed_steps(parents, "initial" if alone else "current"), ForestTask.depths(parents)
    for i, node in enumerate(found["nodes"]):
        assert len(node["path"]) - 1 == depths[0, i]
        assert node["path"][-1] == ForestTask.answers(parents)[0, i]
        assert (node["need"], node["taken"], node["answer"]) == (needed[0, i], steps[0, i], answers[i])
        assert node["right"] == (node["answer"] == node["path"][-1])
        assert node["reads"] == reads[:, i].argmax(1).tolist()
        assert node["weights"] == pytest.approx(reads[:, i].amax(1).tolist(), abs=1e-9)
    return found["parents"]


def test_hands_draw_arrows_and_nodes_ask_again(opened):
    page = opened("forest")
    parents = of_forest(page)
    node = seen(page, "forest")["nodes"][15]
    assert [node["path"].index(asked) for asked in node["reads"][:4]] == [1, 2, 4, 8]
    area = page.locator("canvas").bounding_box()

    def tap(i):
        page.mouse.click(area["x"] + page.evaluate(f"live.forest.spec.x({i})"), area["y"] + 78)

    for node, parent in ((5, 5), (9, 2), (12, 10)):
        tap(node)
        tap(parent)
        parents[node] = parent
        assert of_forest(page) == parents
    tap(10)
    tap(12)  # below 10: no circle, and 12 is picked
    assert of_forest(page) == parents
    tap(0)
    parents[12] = 0
    assert of_forest(page) == parents
    page.focus("canvas")
    for key in ("ArrowLeft", " ", "ArrowLeft", "ArrowLeft", " ", "ArrowUp"):
        page.keyboard.press(key)
    parents[11] = 9
    assert of_forest(page) == parents
    for button in ("Alone", "never slept", "Trees", "Chain", "Together"):
        page.get_by_role("button", name=button).first.click()
        parents = of_forest(page)
    assert parents == [max(0, i - 1) for i in range(16)]


# Lesson 09


def of_column(page):
    """Return the numbers, least digits first, after a look at whether all that is shown of them is true."""
    rows = seen(page, "column")["rows"]
    x = torch.tensor([row["number"] for row in rows]).double()[:, None, None]
    answer, right = halt_columns(networks.load("column").double(), x, x.shape[3] + 10, q=0.5)
    sums, travelled = ColumnTask.answers(x), ColumnTask.travelled(x)
    for t, row in enumerate(rows):
        assert row["sum"] == sums[t, 0].int().tolist()
        assert row["travelled"] == travelled[t, 0].tolist()
        assert row["need"] == travelled[t, 0].max().item() + 1
        assert row["taken"] == answer.steps[t, 0].item()
        assert row["answer"] == (answer.y_hat[t, 0] > 0).int().tolist()
        assert (row["answer"] == row["sum"]) == right[t, 0].item()
    return [row["number"] for row in rows]


def test_hands_change_digits_and_the_network_adds_again(opened):
    page = opened("column")
    numbers = of_column(page)
    area = page.locator("canvas").bounding_box()
    for t, i in ((0, 3), (4, 0), (2, 15)):
        x, y = page.evaluate(f"live.column.spec.places({t}, {i})")
        page.mouse.click(area["x"] + x, area["y"] + y)
        numbers[t][i] ^= 1
        assert of_column(page) == numbers
    page.focus("canvas")
    for key in ("ArrowDown", "ArrowRight", " ", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowLeft", " "):
        page.keyboard.press(key)
    numbers[1][14] ^= 1
    numbers[0][15] ^= 1
    assert of_column(page) == numbers
    for width in (24, 8):
        slide(page, 0, width)
        assert {len(number) for number in of_column(page)} == {width}
    page.get_by_role("button", name="New numbers").click()
    of_column(page)


# Lesson 10


@torch.no_grad()
def of_sudoku(page):
    """Return the board, after a look at whether all that is shown of it is true."""
    found, step = seen(page, "sudoku"), networks.load("sudoku").step
    side = round(len(found["board"]) ** 0.5)
    board = torch.tensor(found["board"]).view(side, side)
    x, step = signs(board[None]), step.on(sudoku_groups(round(side**0.5))).double().eval()
    answers, _ = think_until_quiet(step, board)
    assert found["answers"] == answers.flatten().tolist()
    steps = halt_sudokus(PonderNet(step, max(found["last"], 1))(x.double())).steps[0]
    assert found["taken"] == torch.where(answers.flatten() * (board.flatten() == 0) > 0, steps, 0).tolist()
    assert found["need"] == SudokuTask.needed_steps(x)[0].tolist()
    assert (found["clash"] == []) == fits(answers)
    n_left = left(answers).sum(2).masked_fill(answers > 0, 99).flatten()
    asks = int(n_left.argmin()) if fits(answers) and not answers.all() else -1
    assert found["asks"] == asks
    assert asks < 0 or found["left"] == (left(answers).flatten(0, 1)[asks].nonzero()[:, 0] + 1).tolist()
    return found["board"]


def test_hands_fill_a_sudoku(opened):
    page = opened("sudoku")
    board = of_sudoku(page)
    assert 0 < seen(page, "sudoku")["halted"] < seen(page, "sudoku")["open"]
    assert n_solutions(torch.tensor(board).view(9, 9), limit=9) == 6  # as the figure says
    page.focus("canvas")
    page.keyboard.press("2")
    board[60] = 2
    assert of_sudoku(page) == board
    assert seen(page, "sudoku")["halted"] == seen(page, "sudoku")["open"]
    area, places = page.locator("canvas").bounding_box(), page.evaluate("live.sudoku.spec.places()")
    for cell, digit in ((0, 0), (41, 5), (41, 4)):  # to take away, to fill, and to contradict others
        page.mouse.click(area["x"] + (cell % 9 + 0.5) * places["cell"], area["y"] + (cell // 9 + 0.5) * places["cell"])
        x, y = places["keys"][digit - 1]
        page.mouse.click(area["x"] + x + 10, area["y"] + y + 10)
        board[cell] = digit
        assert of_sudoku(page) == board
    page.focus("canvas")
    for key in ("ArrowUp", "ArrowRight", "7", "ArrowLeft", "ArrowDown", "ArrowDown", " "):
        page.keyboard.press(key)
    board[33], board[50] = 7, 0
    assert of_sudoku(page) == board
    for button, open_cells in (("17 digits", 64), ("hardest", 60), ("4 × 4", 12), ("Empty", 81)):
        page.get_by_role("button", name=button).click()
        assert of_sudoku(page).count(0) == open_cells


# Lesson 11


@torch.no_grad()
def of_judges(page):
    """Return values and walls of the line, after a look at whether all that is shown of them is true."""
    found = seen(page, "judges")
    step = networks.load(f"judges_{found['kind']}").step.double()
    x = torch.tensor([[found["values"], found["walls"]]]).double()
    y, need = SumTask(16, n_values=step.n_values).answers(x), SumTask.needed_steps(x)
    thought = think_of_lines(step, x, y, 20)
    assert (found["truth"], found["need"]) == (y[0].tolist(), need[0].tolist())
    assert found["longest"] == need.max()
    assert found["halt"] == halting_steps_of_lines(thought)
    for n, shown in enumerate(found["steps"], 1):
        assert shown["open"] == (need > n).sum()
        assert shown["q"] == pytest.approx(thought.q_logits[n - 1, :, 0].sigmoid().tolist(), abs=1e-9)
        assert (shown["answers"] == found["truth"]) == thought.right[n - 1, 0]
    return found["values"], found["walls"]


def test_hands_change_a_line_and_the_judge_says_how_likely_it_is_right(opened):
    page = opened("judges")
    values, walls = of_judges(page)
    assert seen(page, "judges")["halt"] < seen(page, "judges")["longest"]
    area = page.locator("canvas").bounding_box()
    x = [area["x"] + page.evaluate(f"live.judges.spec.left({place})") for place in (0, 2, 2.5, 12)]
    page.mouse.click(x[2], area["y"] + 43)
    page.mouse.click(x[1], area["y"] + 12)
    page.mouse.click(x[3], area["y"] + 12)
    page.mouse.click(x[0], area["y"] + 12)  # the first wall stays
    values[2], walls[2], walls[12] = 1 - values[2], 1 - walls[2], 1 - walls[12]
    assert of_judges(page) == (values, walls)
    page.focus("canvas")
    for key in ("ArrowRight", " ", "w", "ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    values[1], walls[1] = 1 - values[1], 1 - walls[1]
    assert of_judges(page) == (values, walls)
    for button in ("HRM", "five values", "New line", "TRM, bits"):
        page.get_by_role("button", name=button).click()
        of_judges(page)


# Fingers


def swipe(page, *points):
    """Drag a finger over the screen."""
    session = page.context.new_cdp_session(page)
    for event, where in [
        ("touchStart", points[0]),
        *(("touchMove", point) for point in points[1:]),
        ("touchEnd", None),
    ]:
        touches = [{"x": where[0], "y": where[1]}] if where else []
        session.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": touches})
        arrived(page)
    page.wait_for_timeout(200)


def on_a_phone(opened, name):
    """Open a figure at the top of a long page, on a screen for fingers."""
    page = opened(name, width=400, has_touch=True, is_mobile=True)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=height:3000px></div>')")
    page.evaluate("document.querySelector('canvas').scrollIntoView({block: 'start'})")
    page.evaluate("scrollBy(0, -100)")
    arrived(page)
    return page


def test_a_finger_flips_bits_drags_walls_and_scrolls_elsewhere(opened):
    page = on_a_phone(opened, "line")
    bits, walls = of_line(page)
    x, at_walls, at_bits = places(page)
    top = page.evaluate("scrollY")
    page.touchscreen.tap((x[6] + x[7]) / 2, at_bits)
    bits[6] ^= 1
    assert of_line(page) == (bits, walls)
    swipe(page, *((x[i], at_walls + i) for i in (walls[1], 7, 8, 11, 15, 20)))
    del walls[1]
    assert of_line(page) == (bits, [*walls, 20])
    assert page.evaluate("scrollY") == top
    for height in (at_bits, at_bits + 250):
        top = page.evaluate("scrollY")
        swipe(page, *((x[15], height - 25 * i) for i in range(6)))
        assert page.evaluate("scrollY") > top
        page.evaluate(f"scrollTo(0, {top})")
        assert of_line(page) == (bits, [*walls, 20])


def test_a_finger_drags_a_bar_by_its_top_and_scrolls_elsewhere(opened):
    page = on_a_phone(opened, "units")
    area = page.locator("canvas").bounding_box()
    x, *heights = page.evaluate(
        "(({bars}) => [bars.middle(2), ...[0.73, 0.6, 0.4, 0.3].map(bars.level)])(live.units.spec.places())"
    )
    top = page.evaluate("scrollY")
    swipe(page, *((area["x"] + x, area["y"] + height) for height in heights))
    assert page.evaluate("scrollY") == top
    assert of_units(page)[1] == pytest.approx(0.3, abs=0.02)
    swipe(page, *((area["x"] + x, area["y"] + 210 - 25 * i) for i in range(6)))
    assert page.evaluate("scrollY") > top
    assert of_units(page)[1] == pytest.approx(0.3, abs=0.02)


# Lesson 12


@torch.no_grad()
def of_words(page):
    """Return the parents and the words, after a look at whether all that is shown of them is true."""
    found = seen(page, "words")
    walker, slip = networks.load(f"words_{found['kind']}").double(), found["slip"]
    x, words, previous = torch.tensor([found["parents"] + list(range(16, 32))]), [], found["asked"]
    for n, shown in enumerate(found["walk"], 1):
        given = (
            torch.tensor([[found["asked"], *words]]) if walker.carried == "word" else torch.tensor([[found["asked"]]])
        )
        logits = walker((x, given), n)[0, -1]
        assert shown["own"] == logits[:-1].argmax()
        assert shown["stop"] == pytest.approx(logits.softmax(0)[-1].item(), abs=1e-9)
        slips = slip is not None and slip["step"] == n
        if shown["stops"] and not slips:
            assert logits.argmax() == 32
            assert n == len(found["walk"]) == len(found["words"]) + 1
            break
        words.append(slip["word"] if slips else shown["own"])
        above = found["parents"][previous] if previous < 16 else previous
        assert found["right"][n - 1] == (words[-1] == above != previous)
        previous = words[-1] if walker.carried == "word" else shown["own"]
    assert found["words"] == words
    root = ForestTask.answers(x)[0, found["asked"]]
    assert found["path"][-1] == root
    assert found["done"] == ((words or [found["asked"]])[-1] == root and found["stops"])
    return found["parents"], words


def test_hands_turn_arrows_and_put_words_into_its_mouth(opened):
    page = opened("words")
    assert of_words(page) == ([max(0, i - 1) for i in range(16)], list(range(14, -1, -1)))
    area = page.locator("canvas").bounding_box()

    def tap(kind, i):
        x, y = page.evaluate(f"live.words.spec.places().{kind}[{i}]")
        page.mouse.click(area["x"] + x, area["y"] + y)

    tap("word", 3)
    parents, words = of_words(page)
    slip = seen(page, "words")["slip"]
    assert (slip["step"], words[2]) == (3, slip["word"]) != (3, 12)
    assert words[3:] == list(range(slip["word"] - 1, -1, -1))[: 16 - 3]  # it goes on from there; 16 words fit
    page.get_by_role("button", name="Its state", exact=True).click()
    _, short = of_words(page)
    page.get_by_role("button", name="trained on four").click()
    _, words = of_words(page)
    assert len(short) < len(words)
    tap("word", 3)
    assert seen(page, "words")["slip"] is None
    page.get_by_role("button", name="A word", exact=True).click()
    tap("node", 9)
    tap("node", 2)
    parents[9] = 2
    assert of_words(page) == (parents, [2, 1, 0])
    page.focus("canvas")
    for key in ("ArrowLeft", " ", "ArrowRight", "ArrowRight", " ", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    of_words(page)
    assert seen(page, "words")["slip"]["step"] == 1
    page.get_by_role("button", name="Trees").click()
    of_words(page)
