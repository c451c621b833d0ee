"""A device that is not there: tensors with values that claim to be elsewhere, and refuse to meet one of the CPU.

Where no GPU is at hand, this finds what a GPU would find: a tensor that was left on the CPU, and, since it has no
float64, what Apple's GPU ("mps") would refuse. Unlike torch's `FakeTensorMode` it computes, so that code whose shapes
and branches depend on values (boolean indices, who has halted) runs, too. It claims to be "meta", the one device
without hardware that autograd works on.
"""

import contextlib
from importlib import import_module

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

ELSEWHERE = torch.device("meta")
MAY_CROSS = ("aten._to_copy.default", "aten.copy_.default")  # from one device to the other
INDEXING = ("aten.index.Tensor", "aten.index_put_.default", "aten._index_put_impl_.default")  # by indices of the CPU


class MixedDevicesError(RuntimeError):
    """What a GPU says of two tensors on different devices."""


class NoDoublesError(TypeError):
    """What Apple's GPU says of float64."""


class Elsewhere(torch.Tensor):
    """A tensor whose values lie in `here`, on the CPU."""

    @staticmethod
    def __new__(cls, here):
        options = {"strides": here.stride(), "dtype": here.dtype, "device": ELSEWHERE, "layout": here.layout}
        return torch.Tensor._make_wrapper_subclass(cls, here.shape, **options)

    def __init__(self, here):
        self.here = here

    def __repr__(self):
        return f"Elsewhere({self.here})"

    def __format__(self, form):
        return format(self.here, form)

    def tolist(self):
        return self.here.tolist()

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return computed(func, args, kwargs or {})


def computed(func, args, kwargs):
    """Compute on the CPU what is asked of tensors elsewhere; MixedDevicesError if one of them is not."""
    tensors = [part for part in tree_flatten((args, kwargs))[0] if isinstance(part, torch.Tensor)]
    away = any(isinstance(part, Elsewhere) for part in tensors)
    strangers = [part for part in tensors if not isinstance(part, Elsewhere) and part.ndim > 0]
    if str(func) in INDEXING and isinstance(args[0], Elsewhere):
        strangers = [part for part in strangers if not any(part is index for index in args[1])]
    if away and strangers and str(func) not in MAY_CROSS:
        raise MixedDevicesError(f"{func} of tensors elsewhere and of {[list(part.shape) for part in strangers]} here")
    if kwargs.get("device") is not None:
        away = torch.device(kwargs["device"]) == ELSEWHERE
        kwargs = kwargs | {"device": torch.device("cpu")}
    elif str(func) == "aten.copy_.default":
        away = isinstance(args[0], Elsewhere)
    values = func(*values_of(args), **values_of(kwargs))
    if away and any(getattr(part, "dtype", None) == torch.float64 for part in tree_flatten(values)[0]):
        raise NoDoublesError(f"{func} gives float64, which this device does not have")
    if func._schema.is_mutable and away and values_of(args[:1])[0] is values:  # in place
        return args[0]
    return tree_map(lambda part: Elsewhere(part) if isinstance(part, torch.Tensor) and away else part, values)


def values_of(tree):
    """The same containers, with values in place of tensors elsewhere."""
    return tree_map(lambda part: part.here if isinstance(part, Elsewhere) else part, tree)


class Factories(TorchDispatchMode):
    """Within it, `torch.zeros(3, device=ELSEWHERE)` and `x.to(ELSEWHERE)` make a tensor there."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return computed(func, args, kwargs or {})


class Generators(TorchFunctionMode):
    """Within it, who draws with a generator of the other device is refused."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        device = kwargs.get("device", args[0].device if args and isinstance(args[0], torch.Tensor) else "cpu")
        generator = kwargs.get("generator")
        if generator is not None and generator.device.type != torch.device(device or "cpu").type:
            raise MixedDevicesError(f"{func} on {device} with a generator on {generator.device}")
        if func is torch.tensor and device == ELSEWHERE:  # torch sends no values to "meta"
            return func(*args, **kwargs | {"device": "cpu"}).to(device)
        return func(*args, **kwargs)


class Generator(torch.Generator):
    """In place of torch's, which has none elsewhere."""

    def __new__(cls, device="cpu"):
        made = super().__new__(cls, "cpu")
        made.place = torch.device(device)
        return made

    device = property(lambda self: self.place)


@contextlib.contextmanager
def there(monkeypatch):
    """Within it the device is there, with generators and the fused optimizers of torch."""
    monkeypatch.setattr(torch, "Generator", Generator)
    name = "_get_fused_kernels_supported_devices"
    for module in map(import_module, ("torch.optim.adam", "torch.optim.optimizer")):
        if hasattr(module, name):
            monkeypatch.setattr(module, name, lambda: ["cpu", ELSEWHERE.type])
    with Factories(), Generators():
        yield ELSEWHERE
