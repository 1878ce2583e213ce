"""Loading and running programs on numpy arrays."""

import asyncio
import copy
import gc
import threading

import numpy as np
import pytest

import mote


@pytest.fixture(scope="module")
def program(add_mul):
    return mote.compile(add_mul)


@pytest.fixture
def arrays():
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    return a, a + 10


def test_call_gives_a_tuple_of_several_outputs(program, arrays):
    a, b = arrays
    total, product = program(a, b)
    assert isinstance(total, np.ndarray) and total.dtype == np.float32
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(product, a * b)


def test_call_gives_one_output_bare(digits):
    y = digits(np.ones((1, 8, 8), np.float32))
    assert isinstance(y, np.ndarray) and y.shape == (1, 10)
    assert abs(float(y.sum()) - 1) < 1e-5


def test_inputs_by_name_in_any_order(program, arrays):
    a, b = arrays
    np.testing.assert_array_equal(program(b=b, a=a)[1], a * b)
    np.testing.assert_array_equal(program(a, b=b)[1], a * b)
    found = program.run({"b": b, "a": a})
    assert list(found) == ["sum", "product"]
    np.testing.assert_array_equal(found["sum"], a + b)


def test_results_stay_when_it_runs_again(program, arrays):
    a, b = arrays
    first = program(a, b)
    program(b, b)
    gc.collect()
    np.testing.assert_array_equal(first[0], a + b)


def test_any_buffer_is_an_array(program, arrays):
    a, b = arrays
    np.testing.assert_array_equal(program(memoryview(a), b)[0], a + b)
    frozen = a.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(program(frozen, b)[0], a + b)


def test_arrays_that_are_not_dense_are_copied(program, arrays):
    a, b = arrays
    np.testing.assert_array_equal(program(np.asfortranarray(a), b)[0], a + b)
    wide = np.zeros((2, 6), np.float32)
    wide[:, ::2] = a
    np.testing.assert_array_equal(program(wide[:, ::2], b[:, :])[0], a + b)
    raw = np.zeros(25, np.uint8)[1:]
    raw.view()[:] = np.frombuffer(a.tobytes(), np.uint8)
    np.testing.assert_array_equal(program(raw.view(np.float32).reshape(2, 3), b)[0], a + b)


def test_numbers_become_arrays(program, arrays):
    a, _ = arrays
    np.testing.assert_array_equal(program(a, [[1, 2, 3], [4, 5, 6]])[0], a + np.array([[1, 2, 3], [4, 5, 6]]))


@pytest.mark.parametrize(
    "wrong, text",
    [
        (np.zeros((2, 3)), "expected f32 (2, 3), found f64 (2, 3)"),
        (np.zeros((3, 2), np.float32), "expected f32 (2, 3), found f32 (3, 2)"),
        (np.zeros((1,) * 9, np.float32), "more than 8 dimensions"),
        (np.zeros((2, 3), np.complex64), "element type that Mote does not have"),
        ("text", "no array"),
        (None, "no array"),
    ],
)
def test_wrong_arrays_are_refused_with_what_was_expected(program, arrays, wrong, text):
    with pytest.raises(mote.Error) as raised:
        program(arrays[0], wrong)
    assert text in raised.value.message and "'b'" in raised.value.message
    assert raised.value.code == "Shape" and raised.value.tensor == "b"


def test_wrong_number_and_names_of_inputs(program, arrays):
    a, b = arrays
    for call in (lambda: program(a), lambda: program(a, b, a), lambda: program(a, c=b), lambda: program(a, a=b)):
        with pytest.raises(mote.Error) as raised:
            call()
        assert raised.value.code == "InvalidArgument"


def test_open_sizes(open_rows):
    program = mote.compile(open_rows, dim={"rows": (1, 8)})
    for rows in (1, 8, 3, 5, 0, 3):
        x = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
        y = program(x)
        assert y.shape == (rows, 4)
        np.testing.assert_array_equal(y, np.maximum(x, 0) - 1)
    with pytest.raises(mote.Error, match="up to 8"):
        program(np.zeros((9, 4), np.float32))


def test_an_open_batch_is_1(open_rows):
    program = mote.compile(open_rows)
    np.testing.assert_array_equal(program(np.full((1, 4), 3, np.float32)), np.full((1, 4), 2, np.float32))
    with pytest.raises(mote.Error):
        program(np.zeros((2, 4), np.float32))


def test_open_sizes_need_bounds(open_rows):
    model = copy.deepcopy(open_rows)
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[1].dim_param = "columns"
    with pytest.raises(mote.CompileError, match="columns") as raised:
        mote.compile(model)
    assert raised.value.problems and len(raised.value.problems[0]) == 3


def test_bound_buffers_are_used_in_place(program, arrays):
    a, b = (x.copy() for x in arrays)
    out = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.float32)
    bound = program.bind(a, b, outputs=out)
    found = bound()
    assert found[0] is out[0] and found[1] is out[1]
    np.testing.assert_array_equal(out[0], a + b)
    a += 1
    program(b, b)  # another run in between binds other arrays
    bound()
    np.testing.assert_array_equal(out[1], a * b)


def test_bound_buffers_are_made_where_none_are_given(digits):
    bound = digits.bind()
    bound.inputs[0][...] = 1
    np.testing.assert_array_equal(bound(), digits(np.ones((1, 8, 8), np.float32)))
    assert bound() is bound.outputs[0]


def test_bound_buffers_must_be_usable_in_place(program, arrays):
    a, b = arrays
    frozen = np.zeros((2, 3), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(mote.Error, match="read-only"):
        program.bind(a, b, outputs=(frozen, frozen))
    with pytest.raises(mote.Error, match="densely"):
        program.bind(np.asfortranarray(a), b)


def test_bound_buffers_outlive_names(program, arrays):
    a, b = arrays
    bound = mote.load(program.image.data()).bind(a.copy(), b.copy())
    gc.collect()
    np.testing.assert_array_equal(bound()[0], a + b)


def test_save_and_load(program, arrays, tmp_path):
    a, b = arrays
    program.save(tmp_path / "p.mote")
    loaded = mote.load(tmp_path / "p.mote", verify_digests=True)
    np.testing.assert_array_equal(loaded(a, b)[0], a + b)
    loaded.save(tmp_path / "q.mote")
    data = (tmp_path / "q.mote").read_bytes()
    assert data == (tmp_path / "p.mote").read_bytes()
    for buffer in (data, bytearray(data), memoryview(b"x" + data)[1:]):
        np.testing.assert_array_equal(mote.load(buffer)(a, b)[0], a + b)
    with pytest.raises(mote.Error, match="cannot be written"):
        program.save(tmp_path / "none" / "p.mote")


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(mote.Error) as raised:
        mote.load(tmp_path / "missing.mote")
    assert raised.value.code == "Io" and "missing.mote" in raised.value.message
    with pytest.raises(mote.Error) as raised:
        mote.load(b"not a program at all, but long enough to be looked at as one")
    assert raised.value.code in ("Corrupt", "Version")


def test_memory_limit(digits):
    data = digits.image.data()
    with pytest.raises(mote.Error) as raised:
        mote.load(data, memory_limit=500)
    assert raised.value.code == "OutOfMemory"
    assert mote.load(data, memory_limit=1 << 20).allocated_bytes < 1 << 20


def test_threads_and_kernels(digits):
    data, x = digits.image.data(), np.ones((1, 8, 8), np.float32)
    assert mote.kernel_names()[0] == "portable"
    for options in ({"threads": 2}, {"kernels": "portable"}, {"threads": 2, "kernels": mote.kernel_names()[-1]}):
        program = mote.load(data, **options)
        np.testing.assert_allclose(program(x), digits(x), rtol=1e-5)
        np.testing.assert_allclose(program.clone()(x), digits(x), rtol=1e-5)
    with pytest.raises(mote.Error):
        mote.load(data, kernels="nonsense")


def test_inspect(digits):
    d = digits.inspect()
    method = d["methods"][0]
    assert method["inputs"][0]["name"] == "image" and method["inputs"][0]["dims"] == [1, 8, 8]
    assert d["metadata"]["name"] == "digits" and d["metadata"]["labels"].startswith("0")
    assert d["certificate"]["macs"] > 1000 and sum(d["ops"].values()) == d["instruction_count"]
    assert "instructions" not in d and digits.inspect(instructions=True)["instructions"][0]["op"].startswith("mote::")
    assert "image" in repr(digits)


def test_bench(digits):
    b = digits.bench(runs=50)
    assert b["runs"] == 50 and 0 < b["min_us"] <= b["p50_us"] <= b["p99_us"] <= b["max_us"]
    assert digits.bench(duration=0.05)["runs"] >= 10


def test_validate(digits, digits_onnx):
    assert digits.validate()["passed"]
    assert digits.validate(digits_onnx)["passed"]
    wrong = digits.validate(lambda image: np.zeros((1, 10)))
    assert not wrong["passed"] and wrong["outputs"][0]["largest_error"] > 0.01


def test_async(digits):
    x = np.ones((1, 8, 8), np.float32)
    expected = digits(x)

    async def all_at_once():
        return await asyncio.gather(*(digits.run_async(x) for _ in range(5)))

    for found in asyncio.run(all_at_once()):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(digits.run_async(image=x).result(timeout=10), expected)
    with pytest.raises(mote.Error):
        digits.run_async(x, x).result(timeout=10)


def test_a_cancelled_run_says_so(digits):
    stop = mote.Run().stop
    stop.request()
    with pytest.raises(mote.Error) as raised:
        digits.call_with((np.ones((1, 8, 8), np.float32),), {}, "", 0, 0, stop)
    assert raised.value.code == "Cancelled"


def test_limits(digits):
    x = {"image": np.ones((1, 8, 8), np.float32)}
    with pytest.raises(mote.Error) as raised:
        digits.run(x, max_steps=1)
    assert raised.value.code == "StepLimit"
    with pytest.raises(mote.Error) as raised:
        digits.run(x, timeout_us=0.001)
    assert raised.value.code == "Deadline"
    digits.run(x)


def test_threads_take_turns(digits):
    x = np.random.default_rng(0).uniform(0, 16, (8, 1, 8, 8)).astype(np.float32)
    expected = [digits(one) for one in x]
    wrong = []

    def work(k):
        for _ in range(100):
            if not np.array_equal(digits(x[k]), expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_programs_do_not_leak(program, arrays):
    import tracemalloc

    a, b = arrays
    program(a, b)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        program(a, b)
        with pytest.raises(mote.Error):
            program(a, a[0])
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20000
