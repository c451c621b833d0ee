"""The mazes of the book's first page and of lesson 07: their thought against PyTorch, and the reader's hands."""

import json
import sys
from pathlib import Path

import browser
import pytest
import torch

from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.task import MazeTask
from ponder_utils import PonderNet

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / folder) for folder in ("book/front", "book/live", "tools")]
import live  # noqa: E402
import live_networks as networks  # noqa: E402
import moving  # noqa: E402


def random_step(seed, channels):
    """A network whose places halt at various steps, though nobody has trained it."""
    torch.manual_seed(seed)
    step = mazes.MazeStep(channels).eval()
    with torch.no_grad():
        step.from_h.weight *= 1.5
        step.from_x.weight *= 2
        step.heads.weight *= 6
        step.heads.bias[1] = -1.5
    return step


def test_the_moving_maze_shows_at_each_step_what_has_halted_by_then():
    maze, _ = MazeTask(4).batch(1, torch.Generator().manual_seed(1))
    generator = torch.Generator().manual_seed(2)
    answers, taken = (torch.randint(low, high, (7, 7), generator=generator) for low, high in ((0, 2), (1, 6)))
    for n in (1, 3, 5):
        shown = (maze[0, 0] > 0) & (taken <= n)
        for ax, values in zip(moving.frame(n, maze[0], answers, taken).axes, (answers, taken), strict=True):
            drawn = torch.tensor(ax.images[-1].get_array().filled(-1))
            assert torch.equal(drawn, torch.where(shown, values, -1).double())
    figures = (moving.frame(n, maze[0], answers, taken) for n in (1, 2, 3))
    assert [image.mode for image in moving.images(figures)] == ["P"] * 3


# In the browser


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("front")
    live.write_pages(folder)
    return folder.as_uri()


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as started:
        yield started


@pytest.fixture
def opened(chromium, site):
    """Opens the page, without motion unless asked for; whatever goes wrong in it fails the test."""
    faults, contexts = [], []

    def open_page(width=1400, reduced_motion="reduce", name=live.FRONT, **options):
        size = {"width": width, "height": 900}
        context = chromium.new_context(viewport=size, reduced_motion=reduced_motion, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: line.type == "error" and faults.append(line.text))
        page.on("request", lambda request: request.url.startswith(site) or faults.append(request.url))
        page.goto(f"{site}/{name}.html")
        page.evaluate(f"window.figure = live['{name}']")
        if name != live.FRONT:
            page.click(".live-bet button[data-bet=none]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


def seen(page):
    """What is shown: numbers of each place, and the steps."""
    text = page.evaluate("JSON.stringify(figure.seen, (_, value) => (value === Infinity ? 1e6 : value))")
    return json.loads(text)


RUN = """([weights, maze, cap]) => {
    const { around, truth, isOpen } = live.mazes;
    const near = around(maze);
    const network = live.read(weights);
    const x = maze.star.map((star, place) => [Number(isOpen(maze, place)), Number(star === 1), Number(star === 2)]);
    const facts = truth(maze);
    const base = live.thought(network, near, x.map(([open]) => [open, 0, 0]));
    const lazy = live.thought(network, near, x, { known: base, until: facts.need });
    const [answer, halt] = ["answer", "halt"].map((name) => x.map((_, place) => lazy(cap, place)[name]));
    const together = live.together(network, near, x);
    const steps = Array.from({ length: cap }, (_, n) => together(n + 1));
    const all = ["answer", "halt"].map((name) => steps.map((places) => places.map((place) => place[name])));
    const need = facts.need.map((n) => Math.min(n, 1e6));
    return { all, last: [answer, halt], need, asked: facts.asked, right: facts.answer };
}"""


def run_in(page, step, x, cap):
    """What the browser makes of the maze x [3, side, side]: tensors, places in one row."""
    star = (x[1] + 2 * x[2]).flatten().tolist()
    maze = {"side": x.shape[-1], "floor": x[0].flatten().tolist(), "star": star}
    found = page.evaluate(RUN, [networks.encoded(step), maze, cap])
    return {name: torch.tensor(values, dtype=torch.float64) for name, values in found.items()}


def drawn_by_hand(side, seed):
    """A maze with walls and stars anywhere, as a reader may draw it."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.zeros(3, side, side)
    x[0] = torch.rand(side, side, generator=generator) < 0.4 + 0.2 * (seed % 4)
    for number in range(seed % 5):
        row, column = torch.randint(side, (2,), generator=generator)
        x[:, row, column] = torch.tensor([1.0, number % 2, 1 - number % 2])
    return x


MAZES = {
    **{f"tree {n}": lambda n=n: MazeTask(n).batch(1, torch.Generator().manual_seed(n))[0][0] for n in (2, 5, 8)},
    **{f"loops {n}": lambda n=n: MazeTask(n, 9, 0.3).batch(1, torch.Generator().manual_seed(n))[0][0] for n in (4, 7)},
    **{f"by hand {seed}": lambda seed=seed: drawn_by_hand(3 + seed, seed) for seed in range(9)},
}


@torch.no_grad()
def test_the_browser_thinks_as_pytorch_does_and_knows_what_is_true_of_a_maze(opened):
    page = opened()
    for seed, x in enumerate(maze() for maze in MAZES.values()):
        step, cap = random_step(seed, channels=4 * (1 + seed % 3)), 20
        found = run_in(page, step, x, cap)
        is_open = x[0].flatten() > 0
        for dtype in (torch.float64, torch.float32):
            output = PonderNet(step.to(dtype), cap)(x[None].to(dtype))
            tolerance = 1e-9 if dtype == torch.float64 else 1e-5
            for i, theirs in enumerate((output.y_hat, output.halt_logits)):
                theirs = theirs[:, 0].flatten(1)[:, is_open]
                # All steps one after the other; and the last alone, of which only what is needed is computed.
                for ours, these in ((found["all"][i], theirs), (found["last"][i][None], theirs[-1:])):
                    assert ((ours[:, is_open] - these).abs() < tolerance).all()
        answers = MazeTask.answers(x[None]).flatten()
        asked = answers >= 0
        assert torch.equal(found["asked"] > 0, asked)
        assert torch.equal(found["need"][asked], MazeTask.needed_steps(x[None]).flatten()[asked].double())
        assert torch.equal(found["right"][asked] - 1, answers[asked].double())
        step.float()


@torch.no_grad()
def check_against_pytorch(found):
    """Compare what is shown with the network of the page in PyTorch; return the places that are wrong."""
    side, star, asked = found["side"], torch.tensor(found["star"]), torch.tensor(found["asked"])
    is_open = (torch.tensor(found["floor"]) > 0) | (star > 0)
    x = torch.stack([is_open, star == 1, star == 2]).float().view(1, 3, side, side)
    model = networks.load("maze").double()
    halted = model.predict(x.double(), "threshold", q=0.5, max_steps=found["last"] + 40)
    taken = halted.steps.flatten()
    assert torch.equal(torch.tensor(found["taken"])[asked], taken[asked])
    answers = {"each": halted.y_hat}
    if found["mode"] == "all":
        answers["all"] = model(x.double(), max_steps=found["shown"]).y_hat[-1]
    own, now = ((y_hat.flatten() > 0).long() + 1 for y_hat in (answers["each"], answers[found["mode"]]))
    assert torch.equal(torch.tensor(found["own"])[asked], own[asked])
    shown = (taken <= found["shown"]) | torch.tensor(found["mode"] == "all")
    assert torch.equal(torch.tensor(found["now"]), torch.where(asked & shown, now, 0))
    truth = MazeTask.answers(x).flatten().long() + 1
    assert torch.equal(torch.tensor(found["answer"])[asked], truth[asked])
    return (asked & shown & (now != truth)).nonzero().flatten().tolist()


# The reader's hands


def press(page, words):
    page.get_by_role("button", name=words, exact=True).click()


def show(page, step):
    page.locator(".live-slider input").evaluate(
        "(slider, value) => { slider.value = value; slider.dispatchEvent(new Event('input')); }", step
    )


def point(page, place):
    """Where a place is on the screen."""
    area, where = page.locator("canvas").bounding_box(), page.evaluate(f"figure.spec.where({place})")
    return area["x"] + where["x"], area["y"] + where["y"]


def test_it_thinks_by_itself_and_says_how_many_places_are_right_and_time_goes_back(opened):
    opened(reduced_motion="no-preference").wait_for_function("figure.seen.shown >= 2")
    page = opened()
    assert sum(seen(page)["asked"]) == sum(seen(page)["floor"])  # nobody is as far from both colours
    for kind in (None, "No walls"):
        if kind:
            press(page, kind)
        found = seen(page)
        wrong, asked = check_against_pytorch(found), sum(found["asked"])
        words = page.inner_text(".live-words")
        assert words.startswith(f"{asked - len(wrong)} of {asked} places" if wrong else f"All {asked} places")
    assert wrong  # nothing in training was without walls
    show(page, 3)
    assert seen(page)["shown"] == 3
    page.focus("canvas")
    page.keyboard.press("n")
    assert seen(page)["shown"] == 4
    check_against_pytorch(seen(page))


def test_places_that_think_on_after_halting_forget(opened):
    page = opened(name="map")
    found = seen(page)
    assert check_against_pytorch(found) == []
    assert found["taken"] == [need if asked else 0 for need, asked in zip(found["need"], found["asked"], strict=True)]
    press(page, "All at step n")
    for step in (10, found["end"] + 80):  # too early for some, too late for others
        show(page, step)
        assert seen(page)["shown"] == step
        assert len(check_against_pytorch(seen(page))) > 0
    press(page, "Each by itself")
    assert seen(page)["now"] == found["now"]


@pytest.fixture
def drawn(opened):
    """Opens a maze of 9 x 9 places."""

    def open_maze(name="No walls", **options):
        page = opened(**options)
        press(page, "9 × 9")
        press(page, name)
        page.mouse.move(0, 0)
        return page

    return open_maze


def drawing(page):
    """What the reader has drawn: walls, and stars, each by its place."""
    found = seen(page)
    check_against_pytorch(found)
    walls = {place for place, is_floor in enumerate(found["floor"]) if not is_floor}
    return walls, {place: colour for place, colour in enumerate(found["star"]) if colour}


def test_a_mouse_adds_removes_and_recolours_stars_and_walls(drawn):
    page = drawn()
    walls, stars = drawing(page)
    assert walls == set()
    (blue,) = [place for place, colour in stars.items() if colour == 1][:1]
    found = []
    for _ in range(3):
        page.mouse.click(*point(page, blue))
        found.append((drawing(page)[1].get(blue, 0), blue in drawing(page)[0]))
    assert found == [(2, False), (0, False), (0, True)]  # recoloured, gone; and a tap where it was draws
    free = next(place for place in range(81) if place not in stars and place % 9 not in (0, 8) and 9 < place < 72)
    press(page, "Stars")
    for left in (1, 2, 0):
        page.mouse.click(*point(page, free))
        assert drawing(page)[1].get(free, 0) == left
    press(page, "Stars")  # none is chosen
    before = drawing(page)
    page.mouse.click(*point(page, next(iter(before[1]))))
    assert drawing(page) == before


def test_a_star_that_is_dragged_thinks_at_each_place_and_keeps_to_the_corridors(drawn):
    page = drawn("New maze")
    walls, stars = drawing(page)
    star, colour = next(iter(stars.items()))
    near = page.evaluate("live.mazes.around(figure.seen)")
    goal = next(place for _, place in near[star] if place not in stars)
    page.mouse.move(*point(page, star))
    page.mouse.down()
    page.mouse.move(*point(page, goal), steps=3)
    assert drawing(page)[1][goal] == colour
    page.mouse.move(*point(page, next(iter(walls))))
    page.mouse.up()
    moved, stars_after = drawing(page)
    assert moved == walls
    assert sorted(stars_after.values()) == sorted(stars.values())
    assert star not in stars_after


def test_keys_add_remove_and_recolour_stars_and_walls(drawn):
    page = drawn("New maze")
    before = drawing(page)
    page.focus("canvas")

    def walk_to(place):
        for key in ["ArrowUp"] * 9 + ["ArrowLeft"] * 9 + ["ArrowDown"] * (place // 9) + ["ArrowRight"] * (place % 9):
            page.keyboard.press(key)
        assert page.evaluate("figure.cursor") == place

    walk_to(next(iter(before[1])))
    page.keyboard.press(" ")  # no key for walls takes a star
    assert drawing(page) == before
    wall = next(iter(before[0]))
    walk_to(wall)
    assert f"({wall // 9 + 1}, {wall % 9 + 1})" in page.inner_text(".live-note[aria-live=polite]")
    for walls in (before[0] - {wall}, before[0]):
        page.keyboard.press(" ")
        assert drawing(page) == (walls, before[1])
    for colour in (1, 2, None):  # a star on a wall; without it, the wall is back
        page.keyboard.press("s")
        assert drawing(page)[1].get(wall) == colour
    assert drawing(page) == before


def arrived(page):
    """Moves come with the next frame."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_a_finger_scrolls_unless_a_tool_is_chosen_or_it_takes_a_star(drawn):
    page = drawn(width=400, has_touch=True, is_mobile=True)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=height:3000px></div>')")
    page.evaluate("scrollTo(0, 150)")
    session = page.context.new_cdp_session(page)

    def stroke(*places):
        points = [point(page, place) for place in places]
        for event, touches in (("touchStart", points[:1]), *(("touchMove", [p]) for p in points[1:]), ("touchEnd", [])):
            session.send(
                "Input.dispatchTouchEvent", {"type": event, "touchPoints": [{"x": x, "y": y} for x, y in touches]}
            )
            arrived(page)
        page.wait_for_timeout(200)

    _, stars = drawing(page)
    column = next(c for c in range(9) if not any(place % 9 in (c - 1, c, c + 1) for place in stars))
    places = [9 * row + column for row in (7, 6, 5, 4)]
    page.locator("button:text-is('Walls')").evaluate("(button) => button.click()")
    page.evaluate("scrollTo(0, 150)")
    stroke(*places)
    assert page.evaluate("scrollY") == 150
    assert drawing(page) == (set(places), stars)
    page.locator("button:text-is('Walls')").evaluate("(button) => button.click()")
    stroke(*places[::-1])
    assert page.evaluate("scrollY") != 150
    assert drawing(page) == (set(places), stars)
