"""The maze of the book's first page: the export, the thought in the browser against PyTorch, and the reader's hands."""

import json
import re
import sys
from pathlib import Path

import browser
import pytest
import torch
from sight import SIGHTS, apart
from torch import nn

from ponder_course.common import style
from ponder_course.map_of_thought import experiment as mazes
from ponder_course.map_of_thought.task import MazeTask
from ponder_course.research.map_of_thought import experiment as stored_runs
from ponder_utils import PonderNet
from ponder_utils.checkpoints import DamagedFileError

ROOT = Path(__file__).resolve().parents[2]
FRONT = ROOT / "book" / "front"
sys.path.insert(0, str(FRONT))
import export  # noqa: E402


def random_step(seed, channels=8, **options):
    """A network whose places halt at various steps, though nobody has trained it."""
    torch.manual_seed(seed)
    step = mazes.MazeStep(channels, **options).eval()
    with torch.no_grad():
        step.from_h.weight *= 1.5
        step.from_x.weight *= 2
        step.heads.weight *= 6
        step.heads.bias[1] = -1.5
    return step


def keep(folder, step, **changed):
    """Leave a network where a former export would have left it."""
    row = export.runs.stored(export.RESULTS)[0]
    code = export.fingerprint_of(stored_runs.run)
    kept = {"format": export.FORMAT, "seed": row["seed"], "fingerprint": code, "weights": export.encoded(step)}
    folder.mkdir(exist_ok=True)
    (folder / "weights.json").write_text(json.dumps(kept | changed))


# The export


def test_weights_come_back_to_the_last_bit():
    step = random_step(1)
    other = mazes.MazeStep(8)
    other.load_state_dict(export.decoded(json.loads(json.dumps(export.encoded(step)))))
    for weight, same in zip(step.parameters(), other.parameters(), strict=True):
        assert torch.equal(weight, same)


def with_a_hole():
    step = random_step(1)
    step.heads.bias.data[0] = torch.nan
    return step


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (nn.Linear(1, 1), TypeError, "step must be a MazeStep; got a Linear"),
        (random_step(1, through_walls=True), ValueError, "step must have through_walls = False"),
        (random_step(1, channels=6), ValueError, "step must have a multiple of 4 channels; got 6"),
        (with_a_hole(), ValueError, "step must have finite weights; heads.bias has others"),
    ],
    ids=["another module", "through walls", "6 channels", "not finite"],
)
def test_what_the_page_cannot_run_is_not_exported(step, error, message):
    with pytest.raises(error, match=re.escape(message)):
        export.encoded(step)


class Perfect(mazes.MazeStep):
    """Knows each answer at the step at which it can be known; or late, or never, or the other way round."""

    def __init__(self, late=0, flip=False):
        super().__init__(4)
        self.late, self.flip = late, flip

    def encode(self, x):
        need = MazeTask.needed_steps(x) + self.late
        return (need, MazeTask.answers(x) > 0.5), x.new_zeros(len(x))

    def forward(self, z, h):
        need, second = z
        sign = torch.where(second ^ self.flip, 1.0, -1.0)
        return sign, h + 1, torch.where(need <= (h + 1)[:, None, None], 1.0, -1.0)


def test_only_a_network_as_lesson_07_says_is_exported():
    rows = export.runs.stored(export.RESULTS)
    found = export.checked(Perfect(), rows, n_mazes=3)
    assert found["mazes"] == found["places"] == 1
    assert found["steps"] == found["needed"]
    for wrong in (Perfect(late=1), Perfect(flip=True), random_step(1)):
        with pytest.raises(export.WrongNetworkError, match="on 3 mazes of 20 x 20 cells the network is right at every"):
            export.checked(wrong, rows, n_mazes=3)


def test_what_was_trained_is_kept_until_the_code_changes(tmp_path, monkeypatch):
    trained = []

    def learn(seed):
        trained.append(seed)
        return PonderNet(random_step(seed), 5)

    monkeypatch.setattr(mazes, "learn", learn)
    monkeypatch.setattr(export, "checked", lambda step, rows: {"mazes": 1.0})
    for _ in range(2):
        found = export.trained(tmp_path / "kept")
        assert found["weights"] == export.encoded(random_step(found["seed"]))
    assert trained == [export.runs.stored(export.RESULTS)[0]["seed"]]
    for changed in ({"fingerprint": "of yesterday"}, {"format": 0}, {"seed": 5}):
        keep(tmp_path / "kept", random_step(3), **changed)
        export.trained(tmp_path / "kept")
    assert len(trained) == 4


def test_a_damaged_file_and_missing_runs_are_named(tmp_path, monkeypatch):
    for text in ("", "[]", "{}"):
        (tmp_path / "weights.json").write_text(text)
        with pytest.raises(DamagedFileError, match=r"weights.json is not what this export writes\. Delete it"):
            export.trained(tmp_path)
    monkeypatch.setattr(export, "RESULTS", tmp_path / "none.jsonl")
    with pytest.raises(FileNotFoundError, match=r"none.jsonl must hold the stored runs of lesson 07; it holds none"):
        export.trained(tmp_path)


def test_what_the_page_says_is_stored_and_its_colours_are_the_course_s(tmp_path):
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
    for name, colour in {
        "first": style.BLUE,
        "second": style.PURPLE,
        "halting": style.HALTING,
        "wrong": style.WRONG,
    }.items():
        assert made["colours"][name] == colour


def inks(theme):
    """The colours of maze.css that the page's drawings use, in a theme."""
    css = (FRONT / "static" / "maze.css").read_text()
    block = css.split('body[data-theme="dark"] .front {' if theme == "dark" else ".front {")[1].split("}")[0]
    return dict(re.findall(r"--front-(\w+): (#\w{6});", block))


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("sight", SIGHTS)
def test_places_can_be_told_apart_by_colour_blind_eyes_and_in_greyscale(theme, sight):
    ink, course = inks(theme), export.colours()
    few, *_, many = course["steps"][theme]
    blue, pink = course["first"], course["second"]
    pairs = [(blue, pink), (few, many), (ink["wall"], ink["open"]), (many, ink["open"])]
    pairs += [(colour, ink["wall"]) for colour in (blue, pink, few, many)]
    pairs += [(colour, ink["open"]) for colour in (blue, pink)]
    near = {pair: round(apart(*pair, sight)) for pair in pairs if apart(*pair, sight) < 15}
    assert near == {}


def test_the_page_finds_what_it_asks_for_and_nothing_elsewhere():
    html, scripts = (FRONT / "maze.html").read_text(), {path.name: path.read_text() for path in FRONT.glob("static/*")}
    names = re.findall(r'\$\("(\w+)"\)|write\("(\w+)"', scripts["maze.js"])
    assert len(names) > 20
    for name in names:
        assert f'id="front-{"".join(name)}"' in html
    files = re.findall(r'(?:src|href)="(.*?)"', html)
    assert {Path(file).name for file in files} == scripts.keys() | {"network.js"}
    assert all(file.startswith("_static/front/") for file in files)
    assert not re.search(r"https?:|\bfetch\(|import |@import|url\(", html + "".join(scripts.values()))


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
def test_the_browser_thinks_as_pytorch_does(opened):
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
        halted |= set(found["steps"][is_open].tolist())
        step.float()
    assert len(halted) > 5  # places halt at many steps, so the comparison has something to compare


@torch.no_grad()
def test_the_exported_network_itself_thinks_as_pytorch_does(opened):
    kept = export.KEPT / "weights.json"
    if not kept.exists():
        pytest.skip("needs the trained network: make front")
    step = mazes.MazeStep(32).eval()
    step.load_state_dict(export.decoded(json.loads(kept.read_text())["weights"]))
    page = opened()
    x, _ = MazeTask(12).batch(2, torch.Generator().manual_seed(1))
    double, single = PonderNet(step.double(), 60)(x.double()), PonderNet(step.float(), 60)(x)
    for which, maze in enumerate(x):
        found, is_open = run_in(page, step, maze, 60), maze[0].flatten() > 0
        for name, kind in (("logit", "y_hat"), ("haltLogit", "halt_logits")):
            exact, rounded = (getattr(output, kind)[:, which].flatten(1)[:, is_open] for output in (double, single))
            assert torch.allclose(found[name][:, is_open], exact, rtol=0, atol=1e-9)
            assert torch.allclose(found[name][:, is_open], rounded.double(), rtol=0, atol=1e-4)  # 60 roundings
        asked = found["asked"] > 0
        assert torch.equal(found["steps"][asked], found["need"][asked])  # it is a good network, too


def test_the_browser_knows_what_is_true_of_a_maze(opened):
    page, step = opened(), random_step(0, channels=4)
    for maze in MAZES.values():
        x = maze()
        found = run_in(page, step, x, 1)
        answers = MazeTask.answers(x[None]).flatten()
        assert torch.equal(found["asked"] > 0, answers >= 0)
        asked = answers >= 0
        assert torch.equal(found["need"][asked], MazeTask.needed_steps(x[None]).flatten()[asked].double())
        assert torch.equal(found["right"][asked] - 1, answers[asked].double())


def made(page, name, side, seed):
    """A maze that the page makes: x [3, side, side], and of what kind it is."""
    found = page.evaluate(
        """([name, side, seed]) => {
            const maze = ponder[name](side, ponder.generator(seed));
            return {open: [...maze.open], star: [...maze.star], kind: ponder.kind(maze)};
        }""",
        [name, side, seed],
    )
    is_open, star = (torch.tensor(found[key]).view(side, side) for key in ("open", "star"))
    return torch.stack([is_open, star == 1, star == 2]).float(), found["kind"]


@pytest.mark.parametrize("side", [5, 9, 19, 39])
def test_mazes_of_the_page_are_what_they_are_called(side, opened):
    page, m = opened(), (side + 1) // 2
    for seed in range(3):
        for name in ("tree", "hall", "spiral", "room", "rubble"):
            x, kind = made(page, name, side, seed)
            assert x[1].sum() >= 1
            assert x[2].sum() >= 1
            assert (x[1:].sum(0) <= x[0]).all()  # stars stand on open places, one on each
            if name in ("tree", "hall", "spiral"):
                assert kind["breaks"] == 0
                assert x[0, ::2, ::2].all()
                assert not x[0, 1::2, 1::2].any()
                assert (MazeTask.needed_steps(x[None])[0][x[0] > 0] <= side**2).all()  # all can be reached
            else:
                assert kind["breaks"] > 0
        assert made(page, "tree", side, seed)[0][0].sum() == 2 * m * m - 1  # with all reached: a spanning tree
        assert made(page, "hall", side, seed)[1]["islands"] == (m - 1) ** 2
    first, second = (made(page, "tree", side, seed)[0] for seed in (0, 1))
    assert torch.equal(first, made(page, "tree", side, 0)[0])
    assert side == 5 or not torch.equal(first, second)
    spiral = made(page, "spiral", side, 0)[0]
    assert MazeTask.needed_steps(spiral[None])[0][spiral[0] > 0].max() >= m * m - m - side  # half of one corridor


def test_loops_are_counted(opened):
    page = opened()
    for seed in range(5):
        x, _ = MazeTask(6, loops=0.1 * seed).batch(1, torch.Generator().manual_seed(seed))
        kind = page.evaluate(
            "open => ponder.kind({side: 11, open: Uint8Array.from(open), star: new Uint8Array(121)})",
            x[0, 0].flatten().tolist(),
        )
        assert kind == {"breaks": 0, "islands": x[0, 0].sum() - (2 * 36 - 1), "stars": 0}


# The reader's hands


def test_it_thinks_by_itself_at_first_sight_and_waits_while_it_is_not_seen(opened):
    page = opened(reduced_motion="no-preference")
    page.wait_for_function("ponderPage.state.shown >= 2")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=height:3000px></div>')")
    page.evaluate("scrollTo(0, 3000)")
    page.wait_for_timeout(300)
    before = state(page, "shown")
    page.wait_for_timeout(700)
    assert state(page, "playing")
    assert state(page, "shown") == before
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function(f"ponderPage.state.shown > {before}")


def test_without_motion_the_end_is_shown_at_once(opened):
    page = opened()
    ended(page)
    assert state(page, "shown") == state(page, "thought.n")
    assert " halted at the very step at which they could know" in page.inner_text("#front-words")


def test_keys_move_draw_and_set_stars(opened):
    page = opened()
    page.select_option("#front-side", "9")
    page.focus("#front-maze")
    page.keyboard.press("ArrowRight")
    place = state(page, "cursor")
    assert place == 4 * 9 + 5
    assert page.inner_text("#front-live").startswith("Place (5, 6) ")
    for _ in range(20):
        page.keyboard.press("ArrowDown")
    assert state(page, "cursor") == 8 * 9 + 5  # it stays inside
    place = state(page, "cursor")
    was_open = state(page, f"laby.open[{place}]")
    page.keyboard.press(" ")
    assert state(page, f"laby.open[{place}]") == 1 - was_open
    stars = []
    for _ in range(3):
        page.keyboard.press("s")
        stars.append(state(page, f"laby.star[{place}]"))
        below = 1 - was_open
        assert state(page, f"laby.open[{place}]") == (1 if stars[-1] else below)
    assert sorted(stars) == [0, 1, 2]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "front-run"  # nobody is caught in the maze


def point(page, place, part=0.5):
    """Where a place is on the screen."""
    area, side = page.locator("#front-maze").bounding_box(), state(page, "laby.side")
    row, column = divmod(place, side)
    return area["x"] + (column + part) * area["width"] / side, area["y"] + (row + part) * area["height"] / side


def test_a_mouse_draws_walls_moves_stars_and_asks(opened):
    page = opened()
    page.select_option("#front-side", "9")
    page.click("[data-maze=room]")
    ended(page)
    page.mouse.move(*point(page, 4 * 9))
    page.mouse.down()
    page.mouse.move(*point(page, 4 * 9 + 8), steps=40)
    page.mouse.up()
    assert not any(state(page, f"laby.open[{4 * 9 + column}]") for column in range(9))  # a wall from side to side
    ended(page)
    star = page.evaluate("ponderPage.state.laby.star.indexOf(1)")
    page.mouse.move(*point(page, star))
    page.mouse.down()
    page.mouse.move(*point(page, 7 * 9 + 1), steps=40)  # through the wall that was drawn
    page.mouse.up()
    stars = page.evaluate("[...ponderPage.state.laby.star]")
    assert stars[7 * 9 + 1] == 1
    assert stars.count(1) == 1
    assert stars.count(2) == 1
    assert not any(state(page, f"laby.open[{4 * 9 + column}]") for column in range(9))  # and it left no hole
    ended(page)
    page.mouse.move(*point(page, 0))
    assert page.inner_text("#front-place") == "Place (1, 1) can reach no star, so it is not asked."
    page.mouse.move(*point(page, 8 * 9))
    need = 2
    assert f"; it needs {need}" in page.inner_text("#front-place")


def test_a_finger_draws_and_does_not_scroll(opened):
    page = opened(width=400, has_touch=True, is_mobile=True)
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=height:3000px></div>')")
    page.click("[data-maze=room]")
    page.evaluate("scrollTo(0, 150)")
    before, side = page.evaluate("scrollY"), state(page, "laby.side")
    assert before == 150
    hand = page.context.new_cdp_session(page)
    for n, kind in enumerate(["touchStart", *["touchMove"] * 9, "touchEnd"]):
        x, y = point(page, (9 - n) * side + 9 if n < 10 else 9)
        points = [] if kind == "touchEnd" else [{"x": x, "y": y}]
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    page.wait_for_timeout(200)
    assert page.evaluate("scrollY") == before
    assert not any(state(page, f"laby.open[{row * side + 9}]") for row in range(10))


def test_the_page_says_what_is_wrong_and_what_was_not_trained_on(opened):
    page = opened()
    for name, words in {"tree": "trained on 9 × 9", "hall": "open halls", "room": "break it"}.items():
        page.click(f"button[data-maze={name}]")
        ended(page)
        assert words in page.inner_text("#front-kind")
        right = page.evaluate(
            """() => {
                const {thought, facts} = ponderPage.state;
                const asked = thought.places.filter((place) => facts.asked[place]);
                return [asked.filter((p) => (thought.answer[p] > 0 ? 2 : 1) === facts.answer[p]).length, asked.length];
            }"""
        )
        assert right[0] < right[1]  # nobody trained this network
        assert page.inner_text("#front-words").startswith(f"{right[0]} of {right[1]:,} places are right, ")
        colours = page.evaluate(
            """() => {
                const canvas = document.getElementById("front-maze");
                const found = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
                const isRed = (i) => found[i] === 213 && found[i + 1] === 94 && found[i + 2] === 0;
                let red = 0;
                for (let i = 0; i < found.length; i += 4) red += isRed(i) ? 1 : 0;
                return red / (canvas.width * canvas.height);
            }"""
        )
        wrong = (right[1] - right[0]) / state(page, "laby.open.length")
        assert 0.5 * wrong < colours < wrong  # each wrong place is red, but for the white stroke across it


def test_time_goes_back_and_forth(opened):
    page = opened()
    ended(page)
    last = state(page, "thought.n")
    page.evaluate("const t = document.getElementById('front-time'); t.value = 3; t.dispatchEvent(new Event('input'))")
    assert state(page, "shown") == 3
    assert page.inner_text("#front-progress").startswith("Step 3: ")
    assert page.inner_text("#front-words") == ""
    page.click("#front-step")
    assert state(page, "shown") == 4
    page.click("#front-run")
    ended(page)
    assert state(page, "shown") == last


@pytest.mark.parametrize("width", [1400, 400, 320])
def test_no_page_is_wider_than_its_screen_and_both_themes_are_drawn(width, opened):
    page = opened(width=width)
    ended(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    walls = []
    for theme in ("light", "dark"):
        page.evaluate(f"document.body.dataset.theme = '{theme}'")
        page.wait_for_timeout(100)
        walls.append(
            page.evaluate("getComputedStyle(document.getElementById('front')).getPropertyValue('--front-wall')")
        )
        ink = page.evaluate("getComputedStyle(document.getElementById('front')).color")
        assert ink == {"light": "rgb(31, 35, 40)", "dark": "rgb(227, 230, 234)"}[theme]
    assert walls[0] != walls[1]


def test_without_stars_nothing_is_asked(opened):
    page = opened()
    page.select_option("#front-side", "9")
    page.click("[data-maze=room]")
    for place in page.evaluate("[...ponderPage.state.laby.star.keys()].filter((p) => ponderPage.state.laby.star[p])"):
        page.evaluate(f"ponderPage.setPlace({place}, true, 0)")
    assert page.inner_text("#front-words") == "Nothing is asked: set a star."
    page.click("#front-run")
    assert not state(page, "playing")


def arrived(page):
    """Moves come with the next frame."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


class Mouse:
    """A hand that draws: comes down at a place, goes along others, and is lifted. Here with a mouse or a pen."""

    def __init__(self, page, kind="mouse", button="left"):
        self.page, self.kind, self.button = page, kind, button
        self.session = page.context.new_cdp_session(page)

    def send(self, event, place, part, buttons):
        x, y = point(self.page, place, part)
        button = self.button if event != "mouseMoved" else "none"
        options = {"button": button, "buttons": buttons, "clickCount": 1, "pointerType": self.kind}
        self.session.send("Input.dispatchMouseEvent", {"type": event, "x": x, "y": y} | options)

    def down(self, place, part=0.5):
        self.send("mouseMoved", place, part, 0)
        self.at = place, part
        self.send("mousePressed", place, part, {"left": 1, "right": 2, "middle": 4}[self.button])

    def along(self, *places):
        for place in places:
            self.at = place, 0.5
            self.send("mouseMoved", place, 0.5, 1)
            arrived(self.page)

    def up(self):
        self.send("mouseReleased", *self.at, 0)

    def tap(self, place, part=0.5):
        self.down(place, part)
        self.up()


class Finger(Mouse):
    """One finger of a hand; fingers that share `others` are on the glass together."""

    def __init__(self, page, others=None):
        self.page = page
        self.others = [] if others is None else others
        self.session = page.context.new_cdp_session(page)

    def send(self, event, places):
        points = []
        for number, finger in enumerate(places):
            x, y = point(self.page, *finger.at)
            points.append({"x": x, "y": y, "id": 1 + number})
        self.session.send("Input.dispatchTouchEvent", {"type": event, "touchPoints": points})

    def down(self, place, part=0.5):
        self.at = place, part
        self.others.append(self)
        self.send("touchStart", self.others)

    def along(self, *places):
        for place in places:
            self.at = place, 0.5
            self.send("touchMove", self.others)
            arrived(self.page)

    def up(self):
        self.others.remove(self)
        self.send("touchEnd", self.others)

    def cancel(self):
        self.others.clear()
        self.send("touchCancel", [])


HANDS = {"mouse": Mouse, "pen": lambda page: Mouse(page, "pen"), "finger": Finger}
ALL_HANDS = pytest.mark.parametrize("hand", HANDS)


@pytest.fixture
def drawn(opened):
    """Opens a maze of 9 x 9 places for a hand: the page, and the hand."""

    def open_maze(hand="mouse", name="room"):
        page = opened(width=400, has_touch=True, is_mobile=True) if hand == "finger" else opened()
        page.select_option("#front-side", "9")
        page.click(f"button[data-maze={name}]")
        page.mouse.move(0, 0)
        return page, HANDS[hand](page)

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
UP = list(range(71, 0, -9))  # a column of the room without stars, from its foot


@ALL_HANDS
def test_every_pointer_adds_removes_and_recolours_stars_and_walls(hand, drawn):
    page, reader = drawn(hand)
    assert seen(page) == (set(), ROOM)
    found = []
    for _ in range(3):
        reader.tap(20)
        found.append(seen(page)[1].get(20, 0))
    assert found == [2, 0, 0]  # recoloured, gone; and a tap where it was draws
    assert seen(page)[0] == {20}
    reader.tap(20)
    assert seen(page) == (set(), {60: 2})
    choose(page, "1")
    reader.tap(20)
    assert seen(page)[1] == ROOM
    reader.tap(60)
    assert seen(page)[1] == {20: 1, 60: 1}
    reader.tap(60)
    assert seen(page)[1] == {20: 1}
    choose(page, "2")
    reader.tap(20)
    assert seen(page)[1] == {20: 2}
    reader.tap(20)
    assert seen(page) == (set(), {})
    choose(page, "look")
    reader.tap(20)
    assert seen(page) == (set(), {})


def test_keys_add_remove_and_recolour_stars_and_walls(drawn):
    page, _ = drawn(name="spiral")
    before = seen(page)
    page.focus("#front-maze")
    for key in ["ArrowUp"] * 4 + ["ArrowLeft"] * 4:
        page.keyboard.press(key)
    assert state(page, "cursor") == 0
    page.keyboard.press(" ")  # no key for walls takes a star
    assert seen(page) == before
    for colour in (2, None, 1):
        page.keyboard.press("s")
        assert seen(page)[1].get(0) == colour
        assert seen(page)[0] == before[0]
    page.keyboard.press("ArrowDown")
    for walls in (before[0] - {9}, before[0]):  # the spiral's first wall
        page.keyboard.press(" ")
        assert seen(page) == (walls, before[1])
    for colour in (1, 2, None):  # a star on a wall; without it, the wall is back
        page.keyboard.press("s")
        assert seen(page)[1].get(9) == colour
    assert seen(page) == before


@ALL_HANDS
def test_a_star_leaves_what_was_below_it(hand, drawn):
    page, reader = drawn(hand, "spiral")
    walls, stars = seen(page)
    place = 0
    for way in ([9, 18, 27], [36, 37, 28], [29, 30, 21], [12, 3]):  # lifted on walls, too
        reader.down(place)
        reader.along(*way)
        reader.up()
        place = way[-1]
        assert seen(page) == (walls - {place}, {place: 1} | {at: star for at, star in stars.items() if star == 2})
    choose(page, "2")
    reader.tap(9)
    assert seen(page)[1][9] == 2
    reader.tap(9)
    choose(page, "1")
    reader.tap(3)
    assert seen(page) == (walls, {at: star for at, star in stars.items() if star == 2})


@ALL_HANDS
def test_a_star_leaps_over_another(hand, drawn):
    page, reader = drawn(hand)
    reader.down(20)
    reader.along(40, 60)
    reader.up()
    assert seen(page) == (set(), {40: 1, 60: 2})
    reader.down(40)
    reader.along(60, 40)  # back: it was no tap
    reader.along(60, 61)
    reader.up()
    assert seen(page) == (set(), {61: 1, 60: 2})


def new_value(name, value):
    """As with the keyboard, which may choose while a pointer is down."""
    find = f"const s = document.getElementById('front-{name}'); s.value = {value};"
    return lambda page: page.evaluate(f"() => {{ {find} s.dispatchEvent(new Event('change', {{bubbles: true}})); }}")


def clicked(what):
    return lambda page: page.evaluate(f"document.querySelector('{what}').click()")


CHANGES = {
    "a new maze": clicked("button[data-maze=tree]"),
    "the same maze again": clicked("button[data-maze=room]"),
    "another size": new_value("side", 19),
    "another speed": new_value("rate", 5),
    "another tool": clicked("[name=front-tool][value=look]"),
    "another window": lambda page: page.evaluate("window.dispatchEvent(new Event('blur'))"),
    "a key that sets a star": lambda page: page.keyboard.press("s"),
    "a key that draws": lambda page: page.keyboard.press(" "),
}


@pytest.mark.parametrize("hand", ["mouse", "finger"])
@pytest.mark.parametrize("start", [20, UP[0]], ids=["a star", "a wall"])
def test_what_changes_the_page_ends_a_drag(start, hand, drawn):
    page, reader = drawn(hand)
    went_on = {}
    for name, change in CHANGES.items():
        page.select_option("#front-side", "9")
        page.click("button[data-maze=room]")
        page.focus("#front-maze")
        reader.down(start)
        reader.along(start - 9)
        change(page)
        after = seen(page)
        reader.along(start - 8, start - 7)
        reader.up()
        if seen(page) != after:
            went_on[name] = seen(page)
        choose(page, "wall")
        after = seen(page)
        place = min(set(range(81)) - after[0] - after[1].keys())
        reader.tap(place)  # and the next one draws
        assert seen(page) == (after[0] | {place}, after[1])
    assert went_on == {}


@pytest.mark.parametrize("hand", ["mouse", "finger"])
def test_a_turned_screen_ends_a_drag(hand, drawn):
    page, reader = drawn(hand)
    reader.down(UP[0])
    page.set_viewport_size({"width": 800, "height": 400})
    page.evaluate("document.getElementById('front-maze').scrollIntoView()")
    reader.along(*UP[1:4])
    reader.up()
    assert seen(page) == ({UP[0]}, ROOM)


@ALL_HANDS
def test_a_drag_ends_where_the_maze_ends(hand, drawn):
    page, reader = drawn(hand)
    for start, after in ((20, (set(), {2: 1, 60: 2})), (71, ({71, 62}, {2: 1, 60: 2}))):
        reader.down(start)
        reader.along(*((11, 2, -9) if start == 20 else (62, 63 + 18 + 9)))
        assert seen(page) == after
        reader.along(40, 41)
        reader.up()
        assert seen(page) == after
    reader.tap(2)
    assert seen(page)[1] == {2: 2, 60: 2}


@pytest.mark.parametrize("start", [20, UP[0]], ids=["a star", "a wall"])
def test_a_second_finger_waits(start, drawn):
    page, first = drawn("finger")
    second = Finger(page, first.others)
    first.down(start)
    second.down(40)
    second.along(41, 42)
    first.along(start - 9)
    second.along(43)
    after = (set(), {11: 1, 60: 2}) if start == 20 else ({start, start - 9}, ROOM)
    assert seen(page) == after
    first.up()
    second.along(44, 43)  # nor does it take over
    second.up()
    assert seen(page) == after
    second.tap(40)
    assert seen(page) == (after[0] | {40}, after[1])


@pytest.mark.parametrize("how", ["cancelled", "capture lost"])
@pytest.mark.parametrize("start", [20, UP[0]], ids=["a star", "a wall"])
def test_a_pointer_that_is_taken_away_leaves_nothing(start, how, drawn):
    page, reader = drawn("finger")
    page.evaluate(
        "() => { document.getElementById('front-maze').onpointerdown = (e) => { window.pointer = e.pointerId; }; }"
    )
    reader.down(start)
    if how == "capture lost":
        reader.along(start - 9)
    after = seen(page)
    if how == "cancelled":
        reader.cancel()
    else:
        page.evaluate("document.getElementById('front-maze').releasePointerCapture(window.pointer)")
        reader.along(start - 18, start - 17)
        reader.up()
    assert seen(page) == after  # nor was it a tap
    reader.tap(start - 1)
    assert seen(page) == (after[0] | {start - 1}, after[1])


@pytest.mark.parametrize("button", ["right", "middle"])
def test_other_buttons_do_not_draw(button, drawn):
    page, left = drawn()
    other = Mouse(page, button=button)
    for start in (20, UP[0]):
        other.down(start)
        other.along(start - 9, start - 18)
        other.up()
    assert seen(page) == (set(), ROOM)
    left.down(UP[0])
    for place, buttons in zip(UP[1:4], (3, 2, 0), strict=True):  # with a second button, then with that alone
        left.send("mouseMoved", place, 0.5, buttons)
        arrived(page)
    assert seen(page) == ({UP[0], UP[1]}, ROOM)


@pytest.mark.parametrize("side", [9, 19, 29, 39])
@pytest.mark.parametrize("hand", ["mouse", "finger"])
def test_a_star_at_the_border_is_taken_where_it_is_drawn(hand, side, drawn):
    page, reader = drawn(hand)
    page.select_option("#front-side", str(side))
    page.click("button[data-maze=spiral]")
    drawn_at = max(0.5, 1.1 * max(0.75, 0.03 * side))
    reader.tap(0, drawn_at)
    walls, stars = seen(page)
    assert stars[0] == 2
    reader.down(0, drawn_at)
    reader.along(3 * side + 3)
    reader.up()
    assert seen(page) == (walls - {3 * side + 3}, {3 * side + 3: 2} | {at: star for at, star in stars.items() if at})


@pytest.mark.parametrize("places", [1, 2, 3])
def test_one_place_is_one_place(places, drawn):
    page, _ = drawn()
    page.evaluate(
        """places => {
            const {laby} = ponderPage.state;
            for (let place = 0; place < 81; place++) ponderPage.setPlace(place, place < places, place ? 0 : 1);
        }""",
        places,
    )
    ended(page)
    assert state(page, "thought.places.length") == places
    count = page.evaluate(
        "ponderPage.state.thought.places.filter((p) => ponderPage.state.thought.answer[p] < 0).length"
    )
    words = page.inner_text("#front-words")
    verb = "is" if 1 in (count, places) else "are"
    noun = "place" if places == 1 else "places"
    assert f"{noun} {verb} right" in words
    assert page.inner_text("#front-last") == ("1 step" if places == 1 else f"{places} steps")
    for step in range(state(page, "thought.n") + 1):
        page.evaluate(
            f"const t = document.getElementById('front-time'); t.value = {step}; t.dispatchEvent(new Event('input'))"
        )
        shown = page.inner_text("#front-progress") + page.inner_text("#front-words")
        assert not re.search(
            r"All 1\b|\b1 (places|steps)\b|\b1 (of \d+ \w+ )?(are|have)\b|\b1 [\w ]+ (they|themselves)\b", shown
        )
