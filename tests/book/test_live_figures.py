"""The live figures: their pages, the reader's hands and keys, and whether what they show is true."""

import sys
from contextlib import contextmanager
from pathlib import Path

import browser
import pytest
import torch
from torch.nn.functional import logsigmoid

from ponder_course.alone_and_together.experiment import attention_by_step
from ponder_course.alone_and_together.task import ForestTask
from ponder_course.common.lines import LineParityTask, all_of_one_segment
from ponder_course.common.measures import at_step
from ponder_course.judges import experiment as judges
from ponder_course.judges.lesson import halting_steps as judged_steps
from ponder_course.judges.task import SumTask
from ponder_course.light_cone.beating_the_clock import votes
from ponder_course.light_cone.lesson import whole_lines_right
from ponder_course.map_of_thought.task import MazeTask
from ponder_course.sudoku.lesson import halt as halt_sudokus
from ponder_course.sudoku.lesson import on_boards, solve
from ponder_course.sudoku.search import PUZZLES, fits, think_until_quiet
from ponder_course.sudoku.task import SudokuTask, signs
from ponder_course.who_leaves_early.lesson import by_head, read
from ponder_course.who_leaves_early.task import ProgramTask
from ponder_utils import PonderNet
from ponder_utils.act import act_average
from ponder_utils.halting import expected_steps, geometric_log_prior, halting_log_probs
from ponder_utils.rules import halting_steps

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tools"), str(ROOT / "book" / "live")]
import live  # noqa: E402
from live_networks import load, stored  # noqa: E402


def double(values):
    return torch.tensor(values, dtype=torch.float64)


# What is true of what a figure shows, in any state into which a reader can bring it


@torch.enable_grad()
def of_units(found):
    """The gradients of both terms of ACT's loss, of two steps; on one step alone nothing pulls."""
    first, step_2 = double(found["first"]).requires_grad_(), 4 if found["know"] else 0
    price, answer = found["tau"] * (3 - first), -logsigmoid((1 - first) * step_2)
    pulls = [-torch.autograd.grad(price, first)[0], torch.autograd.grad(answer, first)[0]]
    expected = [0, 0] if found["first"] >= 0.99 else [pull.item() for pull in pulls]
    assert [found["up"], found["down"]] == pytest.approx(expected)


@torch.enable_grad()
def of_losses(found):
    """Both descents of lesson 02's section 4: PonderNet's with a prior, and ACT's."""
    zero, log_prior = double(0), geometric_log_prior(0.5, 2).double()

    def of_ponder(a, y):
        log_p, losses = halting_log_probs(torch.stack([a, zero])), -logsigmoid(torch.stack([zero, y]))
        return (log_p.exp() * (losses + 0.2 * (log_p - log_prior))).sum()

    def of_act(a, y):
        first = a.sigmoid()
        return 0 * y if first > 0.99 - 1e-9 else -logsigmoid((1 - first) * y) + 0.1 * (3 - first)

    for name, loss in (("ponder", of_ponder), ("act", of_act)):
        a, y = double(found["start"]).logit().requires_grad_(), double(0).requires_grad_()
        optimizer = torch.optim.Adam([a, y], lr=0.02)
        for shown in found[name]:
            assert shown == pytest.approx(a.sigmoid().item(), abs=1e-6)
            optimizer.zero_grad()
            loss(a, y).backward()
            optimizer.step()


def of_parity(found):
    x = double([found["x"]])
    output = load("parity").double()(x)
    odd = output.y_hat[:, 0].sigmoid()
    assert found["truth"] == (x == 1).sum().item() % 2
    assert found["chance"] == pytest.approx(odd.tolist(), abs=1e-9)
    assert found["p"] == pytest.approx(output.log_p[:, 0].exp().tolist(), abs=1e-9)
    assert found["halt"] == output.log_p[:, 0].argmax().item() + 1
    assert found["right"] == ((odd > 0.5) == found["truth"]).tolist()


def of_digit(found):
    for kind, shown in found["networks"].items():
        name = f"digit_{kind}"
        output = load(name).double()(double(found["pixels"]).view(1, 1, 28, 28))
        p = output.log_p[:, 0].exp().tolist()
        assert shown["p"] == pytest.approx(p, abs=1e-9)
        assert shown["steps"] == pytest.approx(expected_steps(output.log_p).item(), abs=1e-9)
        says = output.y_hat[:, 0].argmax(1).tolist()
        assert shown["says"] == says
        if found["angle"] == 0 and found["digit"] is not None:
            assert says[p.index(max(p))] == found["digit"]
        if shown["prior"] is not None:
            prior = geometric_log_prior(stored(name)[1]["lambda_p"], len(p))
            assert shown["prior"] == pytest.approx(prior.exp().tolist())


def of_line(found):
    x = double([[found["bits"], found["walls"]]])
    assert found["need"] == LineParityTask.needed_steps(x)[0].tolist()
    assert found["truth"] == LineParityTask.answers(x)[0].tolist()
    cap = x.shape[2] + 4
    ponder = load("line").double().predict(x, "threshold", q=0.2, max_steps=cap)
    act = act_average(load("line_act").double()(x, max_steps=cap))
    for shown, y_hat, steps in ((found["ponder"], ponder.y_hat, ponder.steps), (found["act"], act.y_hat[0], act.steps)):
        assert (shown["halt"], shown["answers"]) == (steps.item(), (y_hat[0] > 0).int().tolist())
    drawn = found[found["who"]]
    assert found["odd"][drawn["halt"] - 1] == drawn["answers"]
    for odd, right in zip(found["odd"], found["right"], strict=True):
        assert right == [answer == true for answer, true in zip(odd, found["truth"], strict=True)]


def of_vote(found):
    """Of all 64 lines, in the order of the numbers that their bits write: right, half of them before all can know."""
    x = all_of_one_segment(6)
    order = (x[:, 0] @ (2.0 ** torch.arange(5, -1, -1))).argsort()
    x, model = x[order].double(), load("vote").double()
    output = model(x, max_steps=10)
    objects = votes(model.step, x, 10) < 0
    assert torch.equal(torch.tensor([line["objects"] for line in found["lines"]]).transpose(0, 1), objects)
    halts = (~objects.any(-1)).int().argmax(0) + 1
    assert [line["halt"] for line in found["lines"]] == halts.tolist()
    assert whole_lines_right(output.y_hat[halts - 1, torch.arange(64)], LineParityTask.answers(x)).all()
    assert ((halts[:32] >= 6) & (halts[32:] < 6)).all()
    wrong = (output.y_hat > 0) != LineParityTask.answers(x).bool()
    assert torch.equal(torch.tensor([line["wrong"] for line in found["lines"]]).transpose(0, 1), wrong)
    assert x[found["mine"], 0].tolist() == found["bits"]
    assert found["twin"] == (found["mine"] + 32) % 64


def of_maze(found):
    side, star, asked = found["side"], torch.tensor(found["star"]), torch.tensor(found["asked"]) > 0
    is_open = (torch.tensor(found["floor"]) > 0) | (star > 0)
    x = torch.stack([is_open, star == 1, star == 2]).double().view(1, 3, side, side)
    model = load("maze").double()
    halted = model.predict(x, "threshold", q=0.5, max_steps=found["last"] + 40)
    taken = halted.steps.flatten()
    assert torch.equal(torch.tensor(found["taken"])[asked], taken[asked])
    y_hat = model(x, max_steps=found["shown"]).y_hat[-1] if found["mode"] == "all" else halted.y_hat
    shown = asked & ((taken <= found["shown"]) | (found["mode"] == "all"))
    assert torch.equal(torch.tensor(found["now"]), ((y_hat.flatten() > 0) + 1) * shown)
    truth = MazeTask.answers(x).flatten().long() + 1
    assert torch.equal(asked, truth > 0)
    assert torch.equal(torch.tensor(found["answer"])[asked], truth[asked])
    assert torch.equal(double(found["need"])[asked], MazeTask.needed_steps(x).flatten()[asked].double())


def of_forest(found):
    parents = torch.tensor([found["parents"] + list(range(16, 32))])
    for kind, memory in (("together", "current"), ("alone", "initial")):
        model = load(f"forest_{kind}").double()
        output = model(parents, max_steps=16)
        reads = attention_by_step(model.step, parents, 16)[:, 0, :16]
        steps = halting_steps(output, "threshold", q=0.5)
        answers = at_step(output.y_hat.argmax(-1), steps)[0]
        needed = ForestTask.needed_steps(parents, memory)
        for i, node in enumerate(found[kind]):
            assert node["path"][-1] == ForestTask.answers(parents)[0, i]
            assert (node["need"], node["taken"], node["answer"]) == (needed[0, i], steps[0, i], answers[i])
            assert node["right"] == (node["answer"] == node["path"][-1])
            assert node["reads"] == reads[:, i].argmax(1).tolist()


def of_sudoku(found):
    side = round(len(found["board"]) ** 0.5)
    board = torch.tensor(found["board"]).view(side, side)
    x = signs(board[None]).double()
    step = on_boards(load("sudoku"), round(side**0.5)).double()
    answers, _ = think_until_quiet(step, board)
    assert found["answers"] == answers.flatten().tolist()
    steps = halt_sudokus(PonderNet(step, max(found["last"], 1))(x))[1][0]
    assert found["taken"] == torch.where(answers.flatten() * (board.flatten() == 0) > 0, steps, 0).tolist()
    assert found["need"] == SudokuTask.needed_steps(x)[0].tolist()


def of_judges(found):
    step = load(f"judges_{found['kind']}").double()
    x = double([[found["values"], found["walls"]]])
    y, need = SumTask(16, n_values=step.n_values).answers(x), SumTask.needed_steps(x)
    thought = judges.think(step, x, y, 20)
    assert (found["truth"], found["need"]) == (y[0].tolist(), need[0].tolist())
    assert found["halt"] == judged_steps(thought.q_logits)
    for n, shown in enumerate(found["steps"], 1):
        assert shown["q"] == pytest.approx(thought.q_logits[n - 1, :, 0].sigmoid().tolist(), abs=1e-9)
        assert (shown["answers"] == found["truth"]) == thought.right[n - 1, 0]


def of_words(found):
    x, slip = torch.tensor([found["parents"] + list(range(16, 32))]), found["slip"] or {"step": 0}
    for kind in ("word", "state"):
        walker, words, shown = load(f"words_{kind}").double(), [], found[kind]
        for n in range(1, len(shown["words"]) + 2 * shown["stops"]):
            given = [found["asked"], *words] if kind == "word" else [found["asked"]]
            logits = walker((x, torch.tensor([given])), n)[0, -1]
            if kind == "word" and slip["step"] == n:
                words.append(slip["word"])
            elif logits.argmax() < 32:
                words.append(logits.argmax().item())
        assert shown["words"] == words
        last = [found["asked"], *words][-1]
        assert shown["done"] == (shown["stops"] and last == ForestTask.answers(x)[0, found["asked"]])


def of_price(found):
    """Mean words by a linear equation, means = go_on (1 + means)."""
    x = torch.tensor([found["parents"] + list(range(len(found["parents"]), 16))])
    table = load(f"price_{found['price']}").double().next_words(x)[0].exp()
    assert torch.allclose(double(found["table"]), table, atol=1e-9)
    go_on = table[:, :-1]
    means = torch.linalg.solve(torch.eye(16, dtype=torch.float64) - go_on, go_on.sum(1))
    assert found["means"] == pytest.approx(means.tolist(), abs=1e-6)
    last = [found["asked"], *found["words"]][-1]
    assert found["done"] == (found["stops"] and last == ForestTask.answers(x)[0, found["asked"]])


def of_leavers(found):
    x, n, loop = torch.tensor([found["tokens"]]), len(found["leave"]), 0
    loops = torch.tensor([[after or 99 for after in found["leave"]] + [99]])

    def by_hand(y_hat, halt_logit):
        nonlocal loop
        loop += 1
        ready = by_head(y_hat, halt_logit)
        ready[:, :n] = loops[:, :n] <= loop
        return ready

    digits, taken = read(load("leavers").double(), x, 40, in_earnest=True, ready=by_hand)
    assert found["loops"] == taken[0, -1]
    assert found["right"] == (digits[0, -1] == 7)
    only_these = x.where(x < 20, x - 20 + n)  # as a text of n variables has them
    assert found["need"] == ProgramTask(n).needed_loops(only_these, loops)[0, -1]


# In the browser. Of each figure: what is true of it, keys that change something, a state in which its goal is reached.
FIGURES = {
    "units": (of_units, ["ArrowUp"], "995.k.50"),
    "losses": (of_losses, ["ArrowUp"], "0.988"),
    "parity": (of_parity, [" "], "mmmmmmmm.3"),
    "digit": (of_digit, ["ArrowUp"], "4.90"),
    "line": (of_line, [" "], ""),
    "vote": (of_vote, [" "], "000000"),
    "map": (of_maze, ["n", "ArrowUp", " "], "t58.29.b176p526p698.183_225_496."),
    "front": (of_maze, ["ArrowUp", " "], "t58.29.b176p526p698.183_225_496."),
    "forest": (of_forest, [" ", "ArrowLeft", "ArrowLeft", " "], "0000001111111111.15"),
    "sudoku": (of_sudoku, ["2"], ""),
    "judges": (of_judges, [" "], "two.0000001111010010.1001000000000110"),
    "words": (of_words, ["ArrowRight"], "00123456789abcde.15.4_9"),
    "price": (of_price, ["ArrowRight"], "32.0012345678888888.5"),
    "leavers": (of_leavers, [" "], "001000100000"),
}
FIRST = {"map": "Stars", "front": "Stars"}  # the button without which a finger's tap does nothing
FAR = {"digit": 30}  # by how much a hand must move: a pen
NAMES = [live.FRONT, *(name for _, name in live.FIGURES.values())]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Opens a figure, without motion and without a bet; whatever goes wrong on its page fails the test."""
    folder = tmp_path_factory.mktemp("live")
    live.write_pages(folder)
    slide = (folder / "parity.html").read_text(encoding="utf-8").replace("<body", "<body data-deck")
    (folder / "deck.html").write_text(slide, encoding="utf-8")
    with browser.chromium() as chromium, browser.served(folder) as own:

        @contextmanager
        def open_page(name, **options):
            faults = []
            with chromium.new_page(reduced_motion="reduce", **options) as page:
                browser.note_faults(page, faults, own)
                page.goto(f"{own}{name}.html")
                if name != live.FRONT:
                    page.click(".live-bet button[data-bet=none]")
                yield page
            assert faults == []

        yield open_page


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_legible_and_a_finger_finds_its_parts(opened, name):
    with opened(name, viewport={"width": 390, "height": 844}) as page:
        sides = "(all) => Math.min(...all.flatMap((one) => [one.offsetWidth, one.offsetHeight]))"
        assert page.eval_on_selector_all(":is(button, input, summary)", sides) >= 24
        assert page.evaluate(f"live.{name}.spec.apart?.() ?? 24") >= 24
        assert browser.faults_of(page, axe=True) == []


@pytest.mark.parametrize("name", [name for name in FIGURES if FIGURES[name][2]])
def test_a_link_leads_to_a_state_in_which_the_goal_is_reached_and_back(opened, name):
    _, _, goal = FIGURES[name]
    with opened(name) as page:
        page.evaluate(f"location.hash = '{name}=no.{goal}'")  # no state
        page.reload()
        first = page.evaluate(f"live.{name}.spec.state()")
        page.evaluate(f"location.hash = '{name}={goal}'")
        page.get_by_text("You found it!").wait_for()
        page.reload()
        assert first != page.evaluate(f"live.{name}.spec.state()") == goal
        page.get_by_role("button", name="Reset").click()
        page.wait_for_url(f"**#{name}={first}")
        page.get_by_role("button", name="Undo").click()
        assert page.url.endswith(f"#{name}={goal}")


def test_a_bet_is_answered_and_kept_but_not_in_a_deck(opened):
    for name, later in (("parity", "Lost. Ten times as many."), ("deck", "Bet first.")):
        with opened(name) as page:
            page.get_by_text("Bet again").click()
            assert page.locator(".live-bet button").count() == 4  # three choices, and to be shown without a bet
            page.click("button[data-bet=few]")
            page.get_by_text("Lost. Ten times as many.").wait_for()
            page.reload()
            page.get_by_text(later).wait_for()


def with_the_mouse(page, start, end):
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end)
    page.mouse.up()


def with_a_finger(page, start, end):
    session = page.context.new_cdp_session(page)
    for event, points in (("touchStart", [start]), ("touchMove", [end]), ("touchEnd", [])):
        touches = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": touches})


def somewhere(page, hand, far):
    page.locator("canvas").scroll_into_view_if_needed()
    area = page.locator("canvas").bounding_box()
    for y in range(8, int(area["height"]), 15):
        for x in range(10, int(area["width"]) - far, 29):
            start = (area["x"] + x, area["y"] + y)
            hand(page, start, (start[0] + far, start[1]))
            yield


def shown(page, name):
    return page.evaluate(f"live.{name}.seen")


@torch.no_grad()
@pytest.mark.parametrize(
    ("name", "hand"),
    [*((name, with_the_mouse) for name in NAMES), *((name, with_a_finger) for name in (*FIRST, *FAR))],
)
def test_a_hand_changes_a_figure_which_stays_true(opened, name, hand):
    check, *_ = FIGURES[name]
    with opened(name, has_touch=hand is with_a_finger) as page:
        if name in FIRST:
            page.get_by_role("button", name=FIRST[name], exact=True).click()
        before = shown(page, name)
        check(before)
        worked = somewhere(page, hand, FAR.get(name, 0))
        assert any(shown(page, name) != before for _ in worked)
        check(shown(page, name))


@torch.no_grad()
@pytest.mark.parametrize("name", NAMES[1:])
def test_keys_buttons_and_sliders_change_a_figure_which_stays_true(opened, name):
    check, keys, _ = FIGURES[name]
    with opened(name) as page:
        before = shown(page, name)
        page.focus("canvas")
        for key in keys:
            page.keyboard.press(key)
        assert shown(page, name) != before
        check(shown(page, name))
        for tool in page.locator(".live-tools :is(button, input)").all():
            if tool.get_attribute("type") == "button":
                tool.click()
            else:
                tool.focus()
                page.keyboard.press("End")
            check(shown(page, name))


def test_a_search_guesses_as_the_lesson_does(opened):
    board = torch.tensor([int(digit) for digit in PUZZLES["Inkala 2010"]])
    step = on_boards(load("sudoku"), 3).double()
    with opened("sudoku") as page:
        search = "[...live.solve(live.cover(live.weights.sudoku.weights), board)]"
        shown = page.evaluate(
            f"board => {search}.map(t => [t.parent, t.board, t.answers, t.steps, !t.clash.length])", board.tolist()
        )
    thoughts = solve(step, board.view(9, 9)).thoughts
    assert shown == [
        [t.parent, t.board.flatten().tolist(), t.answers.flatten().tolist(), t.steps, fits(t.answers)] for t in thoughts
    ]
