"""Layers with memory: LSTM, RNN and SVDF, in float, hybrid and full-integer form."""

import numpy as np

from op_cases import F32, INT8, case, scale, weights
from tflite_writer import Graph, Op, Tensor


def real(rng, *shape):
    return Tensor.const(rng.uniform(-0.6, 0.6, shape).astype(np.float32))


def small_weights(rng, kind, *shape):
    if kind == F32:
        return real(rng, *shape)
    t = weights(rng, list(shape), INT8)
    t.scale = scale(rng, 0.002, 0.006)
    return t


def lstm_operands(rng, kind, b, i, c, o, coupled, peephole, projection, norm):
    def w(*shape):
        return small_weights(rng, kind, *shape)

    ins = [None if coupled and g == 0 else w(c, i) for g in range(4)] + [None if coupled and g == 0 else w(c, o) for g in range(4)]
    ins += [w(c) if peephole and not (coupled and g == 0) else None for g in range(3)]
    ins += [None if coupled and g == 0 else real(rng, c) for g in range(4)]
    ins += [w(o, c) if projection else None, real(rng, o) if projection and rng.integers(2) else None]
    states = [Tensor([b, o], variable=True), Tensor([b, c], variable=True)]
    tail = [None if coupled and g == 0 else real(rng, c) for g in range(4)] if norm else []
    return ins, states, tail


@case("UNIDIRECTIONAL_SEQUENCE_LSTM", F32, "norm", "hybrid", "hybrid_asymmetric")
def unidirectional_lstm(rng, kind):
    hybrid = kind.startswith("hybrid")
    t, b, i, c = (int(v) for v in rng.integers(1, 6, 4))
    coupled, peephole, projection = (bool(v) for v in rng.integers(2, size=3))
    o = int(rng.integers(1, 5)) if projection else c
    time_major = bool(rng.integers(2))
    ins, states, tail = lstm_operands(rng, INT8 if hybrid else F32, b, i, c, o, coupled, peephole, projection, kind == "norm")
    x, y = Tensor([t, b, i] if time_major else [b, t, i]), Tensor([t, b, o] if time_major else [b, t, o])
    op = Op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x] + ins + states + tail, [y], ("UnidirectionalSequenceLSTMOptions", dict(
        fused_activation_function=4, cell_clip=0.0 if rng.integers(2) else 0.5, proj_clip=0.4 if projection and rng.integers(2) else 0.0,
        time_major=time_major, asymmetric_quantize_inputs=kind == "hybrid_asymmetric")))
    return [Graph([op], [x], [y])]


@case("UNIDIRECTIONAL_SEQUENCE_LSTM", INT8)
def integer_lstm(rng, kind):
    most = 40 if rng.integers(2) else 5  # wide enough for kernels that take 16 inputs at a time
    t, b, i, c = (int(v) for v in rng.integers(1, [5, 4, most + 1, most + 1]))
    coupled, projection = bool(rng.integers(2)), bool(rng.integers(2))
    o = int(rng.integers(1, most)) if projection else c
    time_major = bool(rng.integers(2))

    def bias(n, s):
        return Tensor.const(rng.integers(-2000, 2000, n).astype(np.int32), scale=s)

    x = Tensor([t, b, i] if time_major else [b, t, i], INT8, scale=scale(rng, 0.01, 0.03), zero=int(rng.integers(-9, 9)))
    h = Tensor([b, o], INT8, scale=scale(rng, 0.005, 0.01), zero=int(rng.integers(-9, 9)), variable=True)
    cell = Tensor([b, c], "int16", scale=2.0 ** -int(rng.integers(11, 16)), zero=0, variable=True)
    y = Tensor([t, b, o] if time_major else [b, t, o], INT8, scale=h.scale, zero=h.zero)
    ins = [None if coupled and g == 0 else small_weights(rng, INT8, c, i) for g in range(4)]
    ins += [None if coupled and g == 0 else small_weights(rng, INT8, c, o) for g in range(4)] + [None] * 3
    ins += [None if coupled and g == 0 else bias(c, 0.0001) for g in range(4)]
    ins += [small_weights(rng, INT8, o, c) if projection else None, bias(o, 0.0001) if projection and rng.integers(2) else None]
    middle = [Tensor([], INT8, scale=1.0, zero=0) for _ in range(4)]
    hidden_scale, hidden_zero = (scale(rng, 0.005, 0.01), int(rng.integers(-9, 9))) if projection else (h.scale, h.zero)
    middle.append(Tensor([], INT8, scale=hidden_scale, zero=hidden_zero))
    op = Op("UNIDIRECTIONAL_SEQUENCE_LSTM", [x] + ins + [h, cell] + [None] * 4, [y], ("UnidirectionalSequenceLSTMOptions", dict(
        fused_activation_function=4, cell_clip=0.0 if rng.integers(2) else 0.4, proj_clip=0.0,
        time_major=time_major)), intermediates=middle)
    return [Graph([op], [x], [y])]


@case("LSTM", F32, "hybrid")
def lstm(rng, kind):
    b, i, c = (int(v) for v in rng.integers(1, 6, 3))
    ins, states, _ = lstm_operands(rng, F32 if kind == F32 else INT8, b, i, c, c, False, bool(rng.integers(2)), False, False)
    x, y = Tensor([b, i]), Tensor([b, c])
    return [Graph([Op("LSTM", [x] + ins + states, [y], ("LSTMOptions", dict(fused_activation_function=4, kernel_type=0)))], [x], [y])]


@case("BIDIRECTIONAL_SEQUENCE_LSTM", F32)
def bidirectional_lstm(rng, kind):
    t, b, i, c = (int(v) for v in rng.integers(1, 5, 4))
    time_major = bool(rng.integers(2))
    merge = time_major and bool(rng.integers(2))  # LiteRT 2.3.0 reads beyond its buffers when it merges batch-major outputs
    fw, fs, _ = lstm_operands(rng, kind, b, i, c, c, False, False, False, False)
    bw, bs, _ = lstm_operands(rng, kind, b, i, c, c, False, False, False, False)
    lead = [t, b] if time_major else [b, t]
    x = Tensor(lead + [i])
    outs = [Tensor(lead + [2 * c])] if merge else [Tensor(lead + [c]), Tensor(lead + [c])]
    op = Op("BIDIRECTIONAL_SEQUENCE_LSTM", [x] + fw + bw + fs + bs + [None] * 9, outs, ("BidirectionalSequenceLSTMOptions", dict(
        fused_activation_function=4, merge_outputs=merge, time_major=time_major)))
    return [Graph([op], [x], outs)]


@case("RNN", F32, "hybrid")
def rnn(rng, kind):
    b, i, c = (int(v) for v in rng.integers(1, 6, 3))
    w = F32 if kind == F32 else INT8
    x, y, h = Tensor([b, i]), Tensor([b, c]), Tensor([b, c], variable=True)
    ins = [x, small_weights(rng, w, c, i), small_weights(rng, w, c, c), real(rng, c), h]
    return [Graph([Op("RNN", ins, [y], ("RNNOptions", dict(fused_activation_function=4)))], [x], [y])]


@case("UNIDIRECTIONAL_SEQUENCE_RNN", F32, "hybrid")
def sequence_rnn(rng, kind):
    t, b, i, c = (int(v) for v in rng.integers(1, 6, 4))
    w, time_major = F32 if kind == F32 else INT8, bool(rng.integers(2))
    lead = [t, b] if time_major else [b, t]
    x, y, h = Tensor(lead + [i]), Tensor(lead + [c]), Tensor([b, c], variable=True)
    ins = [x, small_weights(rng, w, c, i), small_weights(rng, w, c, c), real(rng, c), h]
    options = ("SequenceRNNOptions", dict(time_major=time_major, fused_activation_function=1))
    return [Graph([Op("UNIDIRECTIONAL_SEQUENCE_RNN", ins, [y], options)], [x], [y])]


@case("SVDF", F32, "hybrid", INT8)
def svdf(rng, kind):
    most = 40 if rng.integers(2) else 6
    b, rank, i, units, memory = (int(v) for v in rng.integers([1, 1, 1, 1, 2], [3, 4, most, 9, most // 2 + 2]))
    f = units * rank
    if kind == INT8:
        x = Tensor([b, i], INT8, scale=0.02, zero=int(rng.integers(-9, 9)))
        wf = small_weights(rng, INT8, f, i)
        wt = Tensor.const(rng.integers(-3000, 3000, (f, memory)).astype(np.int16), scale=0.0003, zero=0)
        state = Tensor([b, f * memory], "int16", scale=0.0004, zero=0, variable=True)
        bias = Tensor.const(rng.integers(-3000, 3000, units).astype(np.int32), scale=state.scale * wt.scale)
        y = Tensor([b, units], INT8, scale=0.01, zero=-128)
    else:
        w = F32 if kind == F32 else INT8
        x, wf, wt = Tensor([b, i]), small_weights(rng, w, f, i), small_weights(rng, w, f, memory)
        state, bias, y = Tensor([b, f * memory], variable=True), real(rng, units), Tensor([b, units])
    return [Graph([Op("SVDF", [x, wf, wt, bias, state], [y], ("SVDFOptions", dict(rank=rank, fused_activation_function=1)))], [x], [y])]
