"""mote.torch: modules to programs, torch tensors in and out."""

from __future__ import annotations

import collections
import dataclasses
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import mote
import mote.torch


class Linear(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x):
        return torch.relu(self.linear(x))


def test_torch_in_torch_out_numpy_in_numpy_out():
    module, x = Linear(), torch.randn(2, 4)
    program = mote.torch.compile(module, (x,))
    found = program(x)
    assert isinstance(found, torch.Tensor) and not found.requires_grad
    torch.testing.assert_close(found, module(x).detach())
    array = program(x.numpy())
    assert isinstance(array, np.ndarray)
    np.testing.assert_array_equal(array, found.numpy())
    assert type(program) is mote.Program


def test_tensors_of_any_strides_and_with_gradients():
    module, x = Linear(), torch.randn(4, 2)
    program = mote.torch.compile(module, (x.t().contiguous(),))
    torch.testing.assert_close(program(x.t()), module(x.t()).detach())
    grad = torch.randn(2, 4, requires_grad=True)
    torch.testing.assert_close(program(grad), module(grad).detach())
    with pytest.raises(mote.Error, match="found f64"):
        program(torch.zeros(2, 4, dtype=torch.float64))


def test_bound_tensors():
    module = Linear()
    x, y = torch.zeros(2, 4), torch.zeros(2, 3)
    bound = mote.torch.compile(module, (x,)).bind(x, outputs=y)
    x.normal_()
    assert bound() is y
    torch.testing.assert_close(y, module(x).detach())


def test_the_module_keeps_its_mode():
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).train()
    x = torch.randn(1, 4)
    program = mote.torch.compile(module, (x,))
    assert module.training and module[1].training
    torch.testing.assert_close(program(x), module.eval()(x).detach())


Pair = collections.namedtuple("Pair", ["first", "second"])


class Structured(torch.nn.Module):
    def forward(self, pair, scale=None, *, extra=None):
        a, b = pair["a"], pair["b"][0]
        return {"sum": a + b, "both": [a * 2, (b,)], "none": None}


def test_structures_of_arguments_and_results(tmp_path):
    a, b = torch.randn(3), torch.randn(3)
    program = mote.torch.compile(Structured(), ({"a": a, "b": [b]},))
    program.save(tmp_path / "s.mote")
    for p in (program, mote.load(tmp_path / "s.mote"), program.clone()):
        found = p({"a": a, "b": [b]})
        assert list(found) == ["sum", "both", "none"] and found["none"] is None and isinstance(found["both"], list)
        torch.testing.assert_close(found["sum"], a + b)
        torch.testing.assert_close(found["both"][1][0], b)
        arrays = p({"a": a.numpy(), "b": [b.numpy()]})
        assert isinstance(arrays["sum"], np.ndarray)
        assert p.validate(Structured())["passed"] and not p.validate(lambda a, b: [a, a, a])["passed"]
        with pytest.raises(mote.Error, match="expected a dict with a, b"):
            p({"a": a})


def test_arguments_by_name():
    class Two(torch.nn.Module):
        def forward(self, x, *, y):
            return x - y

    x, y = torch.randn(3), torch.randn(3)
    program = mote.torch.compile(Two(), (x,), {"y": y})
    torch.testing.assert_close(program(x, y=y), x - y)


def test_named_tuples_come_back():
    class Named(torch.nn.Module):
        def forward(self, x):
            return Pair(x + 1, x - 1)

    x = torch.randn(3)
    program = mote.torch.compile(Named(), (x,))
    assert isinstance(program(x), Pair)
    loaded = mote.load(program.image.data())(x)
    torch.testing.assert_close(loaded.second, x - 1)


@pytest.mark.parametrize(
    "op",
    [
        lambda x: x.topk(2),
        lambda x: x.sort(1, descending=True),
        lambda x: x.max(0),
        lambda x: x.min(dim=1, keepdim=True),
        lambda x: x.median(1),
        lambda x: x.kthvalue(2, 1),
        lambda x: x.cummax(1),
        lambda x: torch.aminmax(x),
    ],
)
def test_results_of_torch_return_types(op, tmp_path):
    class Direct(torch.nn.Module):
        def forward(self, x):
            return op(x)

    x = torch.randn(3, 4)
    expected = op(x)
    program = mote.torch.compile(Direct(), (x,))
    program.save(tmp_path / "direct.mote")
    for p in (program, mote.load(tmp_path / "direct.mote"), program.clone()):
        found = p(x)
        assert type(found) is type(expected)
        for name in type(expected).__match_args__:
            torch.testing.assert_close(getattr(found, name), getattr(expected, name))
    assert isinstance(program(x.numpy())[0], np.ndarray)


def test_torch_return_types_inside_others():
    class Inside(torch.nn.Module):
        def forward(self, x):
            return {"top": x.topk(2), "rest": [x.sort(), x + 1]}

    x = torch.randn(5)
    found = mote.torch.compile(Inside(), (x,))(x)
    assert type(found["top"]) is torch.return_types.topk and type(found["rest"][0]) is torch.return_types.sort
    torch.testing.assert_close(found["top"].values, x.topk(2).values)


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    cache: torch.Tensor | None = None
    count: int = 0


class ModelOutput(collections.OrderedDict):
    """As libraries of transformers have it: a dict with attributes."""

    def __getattr__(self, name):
        return self[name]


class Bare:
    """A class of which pytree knows the children alone."""

    def __init__(self, *parts):
        self.parts = parts


def test_dataclasses_and_registered_classes(tmp_path):
    torch.export.register_dataclass(Output)
    pytree = torch.utils._pytree
    pytree.register_pytree_node(
        ModelOutput,
        lambda v: (list(v.values()), list(v)),
        lambda parts, keys: ModelOutput(zip(keys, parts)),
        flatten_with_keys_fn=lambda v: ([(pytree.MappingKey(k), x) for k, x in v.items()], list(v)),
    )
    pytree.register_pytree_node(
        Bare,
        lambda v: (list(v.parts), "context"),
        lambda parts, _: Bare(*parts),
        flatten_with_keys_fn=lambda v: ([(pytree.SequenceKey(i), x) for i, x in enumerate(v.parts)], "context"),
    )

    class Returns(torch.nn.Module):
        def __init__(self, made):
            super().__init__()
            self.made = made

        def forward(self, given):
            first = given.logits if hasattr(given, "logits") else given.parts[0]
            return self.made(first * 2)

    x = torch.randn(3)
    for made in (lambda y: Output(y, count=3), lambda y: ModelOutput(logits=y), Bare):
        for given in (Output(x), ModelOutput(logits=x), Bare(x)):
            program = mote.torch.compile(Returns(made), (given,))
            found = program(given)
            assert type(found) is type(made(x))
            y = found.parts[0] if isinstance(found, Bare) else found.logits
            torch.testing.assert_close(y, x * 2)
            assert not isinstance(found, Output) or (found.cache is None and found.count == 3)
    # A file has the names of a dataclass's fields, not the class.
    program = mote.torch.compile(Returns(lambda y: Output(y, count=3)), (Output(x),))
    program.save(tmp_path / "d.mote")
    for p in (program.clone(), mote.load(tmp_path / "d.mote")):
        found = p(Output(x))
        assert found.cache is None and found.count == 3
        torch.testing.assert_close(found.logits, x * 2)
        with pytest.raises(mote.Error, match="Output with 'logits'|found dict"):
            p({"logits": x})


def test_results_without_inputs_are_tensors():
    class Constant(torch.nn.Module):
        def forward(self):
            return torch.arange(3), torch.ones(2, dtype=torch.bool)

    found = mote.torch.compile(Constant(), ())()
    assert all(isinstance(y, torch.Tensor) for y in found)
    assert found[0].tolist() == [0, 1, 2] and found[1].tolist() == [True, True]


def test_numbers_among_the_results():
    class Numbers(torch.nn.Module):
        def forward(self, x, n):
            return x * n, x.shape[0], None, x + 1, True, 2.5

    x = torch.randn(3)
    program = mote.torch.compile(Numbers(), (x, 2))
    found = program(x, 2)
    assert found[1:3] == (3, None) and found[4:] == (True, 2.5)
    torch.testing.assert_close(found[3], x + 1)
    with pytest.raises(mote.Error, match="was 2"):
        program(x, 3)
    rows = torch.export.Dim("rows", max=8)
    program = mote.torch.compile(Numbers(), (x, 2), dynamic_shapes=({0: rows}, None))
    assert program(torch.randn(5), 2)[1] == 5


def test_inputs_that_the_module_changes():
    class Changes(torch.nn.Module):
        def forward(self, x):
            x.add_(1)
            return x * 2

    program = mote.torch.compile(Changes(), (torch.ones(3),))
    x, y = torch.ones(3), np.ones(3, np.float32)
    torch.testing.assert_close(program(x), torch.full((3,), 4.0))
    program(y)
    assert x.tolist() == [2, 2, 2] and y.tolist() == [2, 2, 2]


def test_several_results_are_a_tuple():
    class Several(torch.nn.Module):
        def forward(self, x):
            return x + 1, x * 2

    x = torch.randn(3)
    found = mote.torch.compile(Several(), (x,))(x)
    assert isinstance(found, tuple) and len(found) == 2


def test_state():
    class Counter(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x):
            self.total.add_(x)
            return self.total.clone()

    program = mote.torch.compile(Counter(), (torch.ones(3),))
    x = torch.tensor([1.0, 2.0, 3.0])
    torch.testing.assert_close(program(x), x)
    torch.testing.assert_close(program(x), 2 * x)
    other = program.clone()
    torch.testing.assert_close(other(x), x)
    program.reset_state()
    torch.testing.assert_close(program(x), x)


def test_open_sizes():
    module = Linear()
    rows = torch.export.Dim("rows", min=1, max=16)
    program = mote.torch.compile(module, (torch.randn(2, 4),), dynamic_shapes=({0: rows},))
    for n in (1, 16, 5):
        x = torch.randn(n, 4)
        found = program(x)
        assert found.shape == (n, 3)
        torch.testing.assert_close(found, module(x).detach())


def test_methods_share_weights():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.randn(64, 64))

        def forward(self, x):
            return x @ self.weight

    class Twice(torch.nn.Module):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, x):
            return self.net(self.net(x))

    net, x = Net(), torch.randn(1, 64)
    once, twice = torch.export.export(net, (x,)), torch.export.export(Twice(net), (x,))
    program = mote.torch.compile({"once": once, "twice": twice})
    torch.testing.assert_close(program.methods["once"](x), net(x).detach())
    torch.testing.assert_close(program.method("twice")(x), net(net(x)).detach(), rtol=1e-4, atol=1e-4)
    assert program.inspect()["certificate"]["constant_bytes"] < 1.5 * 64 * 64 * 4
    with pytest.raises(mote.Error, match="once, twice"):
        program.method("thrice")


def test_exported_programs_and_modules_through_mote_compile():
    module, x = Linear(), torch.randn(2, 4)
    expected = module(x).detach()
    torch.testing.assert_close(mote.compile(torch.export.export(module, (x,)))(x), expected)
    torch.testing.assert_close(mote.compile(module, (x,))(x), expected)


def test_what_cannot_be_compiled():
    with pytest.raises(mote.Error, match="example inputs"):
        mote.torch.compile(Linear())
    with pytest.raises(mote.Error, match="tuple of example inputs"):
        mote.torch.compile(Linear(), torch.randn(2, 4))
    with pytest.raises(mote.Error, match="needs typical inputs"):
        mote.torch.compile(Linear(), (torch.randn(2, 4),), quantize="int8")


def test_unsupported_operators_are_named_with_their_place():
    class Unusual(torch.nn.Module):
        def forward(self, x):
            return torch.linalg.eigvals(x).real

    with pytest.raises(mote.CompileError) as raised:
        mote.torch.compile(Unusual(), (torch.randn(3, 3),))
    assert raised.value.problems and "test_torch.py" in raised.value.message


def test_custom_operators_are_passed_through():
    @torch.library.custom_op("motetest::blend", mutates_args=())
    def blend(a: torch.Tensor, b: torch.Tensor, part: float, times: int) -> torch.Tensor:
        return (a * part + b * (1 - part)) * times

    @blend.register_fake
    def _(a, b, part, times):
        return torch.empty_like(a)

    @mote.custom_op("motetest::blend", inputs=2)
    def kernel(inputs, outputs, attributes):
        part, times = struct.unpack_from("<fi", attributes)
        outputs[0][...] = (inputs[0] * np.float32(part) + inputs[1] * np.float32(1 - part)) * np.float32(times)

    class Net(torch.nn.Module):
        def forward(self, a, b):
            return torch.ops.motetest.blend(a, b, 0.25, 3) + 1

    a, b = torch.randn(3), torch.randn(3)
    program = mote.torch.compile(Net(), (a, b))
    torch.testing.assert_close(program(a, b), Net()(a, b))
    assert "motetest::blend" in program.inspect()["ops"]


def test_outputs_have_the_names_of_the_results(tmp_path):
    class Named(torch.nn.Module):
        def __init__(self, give):
            super().__init__()
            self.linear, self.give = torch.nn.Linear(3, 2), give

        def forward(self, x):
            return self.give(self.linear(x), x)

    x = torch.randn(1, 3)
    for give, names in (
        (lambda y, x: y, ["output"]),
        (lambda y, x: (y, y + 1), ["output_0", "output_1"]),
        (lambda y, x: {"logits": y, "states": [x + 1, y * 2], "none": None}, ["logits", "states_0", "states_1"]),
    ):
        exported = mote.torch.export(Named(give), (x,))
        torch.export.save(exported, tmp_path / "m.pt2")
        for program in (mote.torch.compile(exported), mote.compile(tmp_path / "m.pt2")):
            assert [output["name"] for output in program.outputs] == names
