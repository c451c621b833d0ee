"""The code of a notebook's equations: what its assertions depend on, and that code with one operator changed."""

import ast
import contextlib
import copy
import functools
import io
import re
import symtable
from typing import NamedTuple

import torch
from running import NOTEBOOKS, source

SWAPPED = {ast.Add: ast.Sub, ast.Mult: ast.Div, ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Eq: ast.NotEq}
SWAPPED |= {new: old for old, new in SWAPPED.items()}
# what stands in for trained networks that an equation is asserted of
UNTRAINED = {"04_mnist_rotation": ast.parse('networks = {"patches": [PonderNet(steps["patches"](), 3)]}').body[0]}
# no assertion is run that needs one of them
TRAINS = {"train", "fit", "in_parallel", "run_all", "train_or_load", "optimizer"}
PRINTS = ("print(", "show(", "explore(", "notebook.")
HARMLESS = (*PRINTS, "torch.testing.")


class Statement(NamedTuple):
    """A statement of a notebook, at the level of its cell."""

    cell: int
    node: ast.stmt
    labels: tuple[int, ...]  # of equations that it asserts: its lines end with `# (k)` or `# (k), (j)`

    @property
    def is_definition(self):
        return isinstance(self.node, ast.FunctionDef | ast.ClassDef)

    @property
    def is_import(self):
        return isinstance(self.node, ast.Import | ast.ImportFrom)

    @property
    def asserts(self):
        code = ast.unparse(self.node)
        return not self.is_definition and bool(re.search(r"^\s*assert |assert_close\(", code, re.M))


def equations(cells):
    """[(label, index of its cell)] in the order of the prose."""
    prose = [(i, cell.source) for i, cell in enumerate(cells) if cell.cell_type == "markdown"]
    return [(int(label), i) for i, source in prose for label in re.findall(r"\\tag\{(\d+)\}", source)]


def labels_in(code):
    """Of the lines that end with `# (k)` or `# (k), (j)`."""
    ends = re.findall(r"# ((?:\(\d+\)(?:, )?)+)$", code, re.M)
    return tuple(int(label) for label in re.findall(r"\d+", " ".join(ends)))


def statements(cells):
    """All statements of the code cells, in order."""
    found = []
    for i, cell in enumerate(cells):
        code = source(cell)
        for node in ast.parse(code).body:
            labels = labels_in("\n".join(code.splitlines()[node.lineno - 1 : node.end_lineno]))
            found.append(Statement(i, node, labels))
    return found


@functools.cache
def names_of(node):
    """The names of the notebook that a statement binds or sets items of, and those it reads, in functions too."""
    tables = [symtable.symtable(ast.unparse(node), "<statement>", "exec")]
    bound = {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    read = {symbol.get_name() for symbol in tables[0].get_symbols() if symbol.is_referenced()}
    for table in tables:
        tables += table.get_children()
        read |= {symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced()}
    items = [
        part.value for part in ast.walk(node) if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store)
    ]
    return bound | {item.id for item in items if isinstance(item, ast.Name)}, read


@functools.cache
def changes(node, name):
    """Whether a call in the statement may change what the name stands for, in place."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return False
    calls = [
        part for part in ast.walk(node) if isinstance(part, ast.Expr) and not ast.unparse(part).startswith(HARMLESS)
    ]
    return any(".backward(" in ast.unparse(call) or name in names_of(call)[1] for call in calls)


def replaces(node):
    """Whether nothing remains of what the bound names were."""
    if isinstance(node, ast.Assign):
        return not any(isinstance(target, ast.Subscript) for target in node.targets)
    return isinstance(node, ast.AnnAssign | ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)


class Notebook:
    """The statements of a notebook, and which of them an assertion needs."""

    def __init__(self, stem):
        self.cells = NOTEBOOKS[stem]
        self.equations = dict(equations(self.cells))
        self.statements = [
            statement._replace(node=UNTRAINED[stem])
            if stem in UNTRAINED and "networks" in names_of(statement.node)[0]
            else statement
            for statement in statements(self.cells)
        ]

    def needed_by(self, place):
        """The places of the statements, in order, from which the one at `place` follows."""
        found, asked, done = {place}, [(name, place) for name in names_of(self.statements[place].node)[1]], set()
        while asked:
            name, before = asked.pop()
            if (name, before) in done:
                continue
            done.add((name, before))
            for i in reversed(range(before)):
                statement = self.statements[i]
                bound, read = names_of(statement.node)
                bound = name in bound
                if bound or changes(statement.node, name):
                    found.add(i)
                    # a function looks for its names when it is called
                    asked += [(other, before if statement.is_definition else i) for other in read]
                if bound and replaces(statement.node):
                    break
        return sorted(found)

    def of_equations(self):
        """{place of a statement: places of the assertions that need it}, of the code between an equation and these."""
        found = {}
        for place, statement in enumerate(self.statements):
            if not statement.asserts:
                continue
            needed = self.needed_by(place)
            if any(trains(self.statements[i].node) for i in needed):
                continue
            for i in needed:
                found.setdefault(i, []).append(place)
        code = {}
        for place, statement in enumerate(self.statements):
            for label in statement.labels:
                if self.equations[label] < statement.cell:
                    for i in self.needed_by(place):
                        if self.statements[i].cell > self.equations[label]:
                            code[i] = found.get(i, [])
        return dict(sorted(code.items()))


def trains(node):
    """Whether the statement trains a network, or defines what does."""
    return any(getattr(part, "attr", getattr(part, "id", "")) in TRAINS for part in ast.walk(node))


def mutants(node):
    """[(what stood there, what stands there now, the statement)], with one operator changed in each."""
    found, skipped = [], left_as_they_are(node)
    for i, part in enumerate(ast.walk(node)):
        for new in changed(part) if id(part) not in skipped else ():
            mutant = copy.deepcopy(node)
            old = list(ast.walk(mutant))[i]
            replaced = Replace(old, copy.deepcopy(new)).visit(mutant)
            found.append((ast.unparse(part), ast.unparse(new), ast.fix_missing_locations(replaced)))
    return found


def left_as_they_are(node):
    """The parts that print, that run in training alone, and negative numbers as arguments: axes and settings."""
    parts = [*ast.walk(node)]
    whole = [part for part in parts if isinstance(part, ast.Expr) and ast.unparse(part).startswith(PRINTS)]
    whole += [part for part in parts if isinstance(part, ast.If) and ast.unparse(part.test) == "self.training"]
    arguments = [argument for call in parts if isinstance(call, ast.Call) for argument in call.args]
    arguments += [part for loop in parts if isinstance(loop, ast.For) for part in getattr(loop.iter, "elts", [])]
    whole += [part for part in arguments if isinstance(part, ast.UnaryOp) and isinstance(part.operand, ast.Constant)]
    return {id(part) for top in whole for part in ast.walk(top)}


def changed(part):
    """What may stand in place of an expression."""
    if isinstance(part, ast.BinOp | ast.AugAssign) and type(part.op) in SWAPPED:
        yield with_field(part, op=SWAPPED[type(part.op)]())
    if isinstance(part, ast.Compare) and type(part.ops[0]) in SWAPPED:
        yield with_field(part, ops=[SWAPPED[type(part.ops[0])]()])
    if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub):
        yield part.operand
    if isinstance(part, ast.BinOp) and ast.unparse(part).startswith("1 - ") and isinstance(part.op, ast.Sub):
        yield part.right


def with_field(part, **fields):
    new = copy.copy(part)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


class Replace(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        return self.new if node is self.old else self.generic_visit(node)


def run(nodes, names):
    """Run statements with these names, and print nothing."""
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()), torch.random.fork_rng():
        exec(compile(ast.Module(list(nodes), []), "<equations>", "exec"), names)
