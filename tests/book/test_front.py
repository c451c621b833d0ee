"""The maze of the book's first page: the export, the thought in the browser against PyTorch, and the reader's hands."""

import json
import sys
from pathlib import Path

import browser
import pytest
import torch

from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.task import MazeTask
from ponder_course.research.map_of_thought import experiment as stored_runs
from ponder_utils import PonderNet

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "book" / "front"
sys.path.insert(0, str(FRONT))
import export  # noqa: E402
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


def keep(folder, step):
    """Leave a network where a former export would have left it."""
    row = export.runs.stored(export.RESULTS)[0]
    code = export.fingerprint_of(stored_runs.run)
    kept = {"format": export.FORMAT, "seed": row["seed"], "fingerprint": code, "weights": export.encoded(step)}
    folder.mkdir(exist_ok=True)
    (folder / "weights.json").write_text(json.dumps(kept))


# The export


def test_what_the_page_says_is_stored(tmp_path):
    keep(tmp_path, random_step(2, channels=32))
    text = export.write(tmp_path / "made" / "here", tmp_path).read_text()
    assert text.startswith("window.ponderNetwork = {")
    assert len(text) < 60_000
    made = json.loads(text.removeprefix("window.ponderNetwork = ").removesuffix(";\n"))
    lines = [json.loads(line)["result"] for line in export.RESULTS.read_text().splitlines()]
    assert made["known"]["networks"] == len(lines)
    for test in ("30", "20, loops", "20, all passages"):
        right = sorted(line[test]["mazes"] for line in lines)
        assert made["known"]["mazes"][test] == [right[0], right[-1]]
    assert [made["known"][name] for name in ("trained_side", "trained_steps", "largest_side")] == [9, 24, 59]


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
    keep(folder / "kept", random_step(4, channels=32))
    return export.write_page(folder / "site", folder / "kept").as_uri()


@pytest.fixture(scope="module")
def chromium():
    with browser.chromium() as started:
        yield started


@pytest.fixture
def opened(chromium, site):
    """Opens the page, without motion unless asked for; whatever goes wrong in it fails the test."""
    faults, contexts = [], []

    def open_page(width=1400, reduced_motion="reduce", **options):
        size = {"width": width, "height": 900}
        context = chromium.new_context(viewport=size, reduced_motion=reduced_motion, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda line: line.type == "error" and faults.append(line.text))
        folder = site.rpartition("/")[0]
        page.on("request", lambda request: request.url.startswith(folder) or faults.append(request.url))
        page.goto(site)
        page.wait_for_function("window.ponderPage")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not faults


def state(page, name):
    return page.evaluate(f"ponderPage.state.{name}")


def ended(page):
    page.wait_for_function("ponderPage.state.thought.done && !ponderPage.state.playing")


RUN = """({exported, side, open, star, cap}) => {
    const maze = {side, open: Uint8Array.from(open), star: Uint8Array.from(star)};
    const facts = ponder.truth(maze);
    const thought = new ponder.Thought(ponder.read(exported), maze, facts.asked, cap);
    const found = {logit: [], haltLogit: []};
    for (let n = 0; n < cap; n++) {
        thought.step();
        for (const name of Object.keys(found)) found[name].push([...thought[name]]);
    }
    const none = 10 ** 6; // Infinity is none of JSON's numbers
    const need = facts.need.map((n) => Math.min(n, none));
    const [steps, answer] = [[...thought.steps], [...thought.answer]];
    return {...found, need, asked: facts.asked, right: facts.answer, steps, answer};
}"""


def run_in(page, step, x, cap):
    """What the browser makes of the maze x [3, side, side]: tensors, places in one row."""
    star = x[1] + 2 * x[2]
    maze = {"side": x.shape[-1], "open": x[0].flatten().tolist(), "star": star.flatten().tolist(), "cap": cap}
    found = page.evaluate(RUN, {"exported": {"format": export.FORMAT, "weights": export.encoded(step)}, **maze})
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
    page, halted = opened(), set()
    for seed, x in enumerate(maze() for maze in MAZES.values()):
        step, cap = random_step(seed, channels=4 * (1 + seed % 3)), 20
        found = run_in(page, step, x, cap)
        is_open = x[0].flatten() > 0
        for dtype in (torch.float64, torch.float32):
            model = PonderNet(step.to(dtype), cap)
            output, answered = model(x[None].to(dtype)), model.predict(x[None].to(dtype), "threshold", q=0.5)
            tolerance = 1e-9 if dtype == torch.float64 else 1e-5
            for ours, theirs in ((found["logit"], output.y_hat), (found["haltLogit"], output.halt_logits)):
                difference = (ours - theirs[:, 0].flatten(1))[:, is_open].abs()
                assert difference.numel() == 0 or difference.max() < tolerance
            assert torch.equal(found["steps"][is_open], answered.steps.flatten()[is_open].double())
            difference = (found["answer"] - answered.y_hat.flatten())[is_open].abs()
            assert difference.numel() == 0 or difference.max() < tolerance
        answers = MazeTask.answers(x[None]).flatten()
        asked = answers >= 0
        assert torch.equal(found["asked"] > 0, asked)
        assert torch.equal(found["need"][asked], MazeTask.needed_steps(x[None]).flatten()[asked].double())
        assert torch.equal(found["right"][asked] - 1, answers[asked].double())
        halted |= set(found["steps"][is_open].tolist())
        step.float()
    assert len(halted) > 5  # places halt at many steps, so the comparison has something to compare


# The reader's hands


def point(page, place):
    """Where a place is on the screen."""
    area, side = page.locator("#front-maze").bounding_box(), state(page, "laby.side")
    row, column = divmod(place, side)
    return area["x"] + (column + 0.5) * area["width"] / side, area["y"] + (row + 0.5) * area["height"] / side


def test_it_thinks_by_itself_and_says_how_many_places_are_right_and_time_goes_back(opened):
    opened(reduced_motion="no-preference").wait_for_function("ponderPage.state.shown >= 2")
    page = opened()
    ended(page)
    right, asked = page.evaluate(
        """() => {
            const {thought, facts} = ponderPage.state;
            const asked = thought.places.filter((place) => facts.asked[place]);
            return [asked.filter((p) => (thought.answer[p] > 0 ? 2 : 1) === facts.answer[p]).length, asked.length];
        }"""
    )
    assert right < asked  # nobody trained this network
    assert page.inner_text("#front-words").startswith(f"{right} of {asked:,} ")
    page.evaluate("const t = document.getElementById('front-time'); t.value = 3; t.dispatchEvent(new Event('input'))")
    assert state(page, "shown") == 3
    page.click("#front-step")
    assert state(page, "shown") == 4


def arrived(page):
    """Moves come with the next frame."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.fixture
def drawn(opened):
    """Opens a maze of 9 x 9 places."""

    def open_maze(name="room", **options):
        page = opened(**options)
        page.select_option("#front-side", "9")
        page.click(f"button[data-maze={name}]")
        page.mouse.move(0, 0)
        return page

    return open_maze


def seen(page):
    """What the reader has drawn: walls and stars, each by its place."""
    open_, star = page.evaluate("[[...ponderPage.state.laby.open], [...ponderPage.state.laby.star]]")
    walls = {place for place, is_open in enumerate(open_) if not is_open}
    stars = {place: colour for place, colour in enumerate(star) if colour}
    assert walls.isdisjoint(stars)
    return walls, stars


def choose(page, tool):
    page.locator(f".front-group label:has([name=front-tool][value='{tool}'])").click()


ROOM = {20: 1, 60: 2}  # the stars of the room of 9 x 9 places


def test_a_mouse_adds_removes_and_recolours_stars_and_walls(drawn):
    page = drawn()
    assert seen(page) == (set(), ROOM)
    found = []
    for _ in range(3):
        page.mouse.click(*point(page, 20))
        found.append(seen(page)[1].get(20, 0))
    assert found == [2, 0, 0]  # recoloured, gone; and a tap where it was draws
    assert seen(page) == ({20}, {60: 2})
    page.mouse.click(*point(page, 20))
    for tool, stars in (("1", {20: 1, 60: 2}), ("2", {20: 2, 60: 2}), ("2", {60: 2}), ("look", {60: 2})):
        choose(page, tool)
        page.mouse.click(*point(page, 20))
        assert seen(page) == (set(), stars)


def test_keys_add_remove_and_recolour_stars_and_walls(drawn):
    page = drawn("spiral")
    before = seen(page)
    page.focus("#front-maze")
    for key in ["ArrowUp"] * 4 + ["ArrowLeft"] * 4:
        page.keyboard.press(key)
    assert state(page, "cursor") == 0
    page.keyboard.press(" ")  # no key for walls takes a star
    assert seen(page) == before
    page.keyboard.press("ArrowDown")
    for walls in (before[0] - {9}, before[0]):  # the spiral's first wall
        page.keyboard.press(" ")
        assert seen(page) == (walls, before[1])
    for colour in (1, 2, None):  # a star on a wall; without it, the wall is back
        page.keyboard.press("s")
        assert seen(page)[1].get(9) == colour
    assert seen(page) == before


def test_a_finger_draws_walls_and_does_not_scroll(drawn):
    page = drawn(width=400, has_touch=True, is_mobile=True)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=height:3000px></div>')")
    page.evaluate("scrollTo(0, 150)")
    session = page.context.new_cdp_session(page)

    def send(event, *points):
        touches = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": touches})

    send("touchStart", point(page, 71))
    for place in (62, 53, 44):
        send("touchMove", point(page, place))
        arrived(page)
    send("touchEnd")
    page.wait_for_timeout(200)
    assert page.evaluate("scrollY") == 150
    assert seen(page) == ({71, 62, 53, 44}, ROOM)
