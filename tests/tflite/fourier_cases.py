"""Spectrograms as converters write them: RFFT2D, changes of shape of complex numbers, then their magnitude, real or imaginary parts."""

from op_cases import case, dims, ints
from tflite_writer import Graph, Op, Tensor


def transformed(shape, lengths):
    return [*shape[:-2], lengths[0], lengths[1] // 2 + 1]


def parts(z, shape, code):
    y = Tensor(shape)
    return Op(code, [z], [y]), y


@case("RFFT2D", "COMPLEX_ABS", "REAL", "IMAG")
def rfft2d(rng, code):
    """Rows and columns, both cut or padded with zeros."""
    lengths = [int(2 ** rng.integers(1, 4)), int(2 ** rng.integers(1, 6))]
    x = Tensor([*dims(rng, int(rng.integers(0, 3))), int(rng.integers(1, 10)), int(rng.integers(1, 40))])
    z = Tensor(transformed(x.shape, lengths), "complex64")
    op, y = parts(z, z.shape, code)
    return [Graph([Op("RFFT2D", [x, ints(*lengths)], [z], ("Rfft2dOptions", {})), op], [x], [y])]


@case("RFFT2D frames", "COMPLEX_ABS", "REAL", "IMAG")
def frames(rng, code):
    """What tf.signal.rfft becomes: the frames as images of one row, whose axis goes again while the numbers are complex."""
    batch, count, samples = dims(rng, 3, 1, 5)
    samples *= 7
    length = int(2 ** rng.integers(2, 6))
    x, rows = Tensor([batch, count, samples]), Tensor([batch, count, 1, samples])
    z = Tensor(transformed(rows.shape, [1, length]), "complex64")
    flat = Tensor([batch, count, length // 2 + 1], "complex64")
    change = [Op("SQUEEZE", [z], [flat], ("SqueezeOptions", dict(squeeze_dims=[int(rng.choice([2, -2]))]))),
              Op("RESHAPE", [z, ints(batch, -1, length // 2 + 1)], [flat], ("ReshapeOptions", {}))][int(rng.integers(2))]
    op, y = parts(flat, flat.shape, code)
    return [Graph([Op("EXPAND_DIMS", [x, ints(2)], [rows], ("ExpandDimsOptions", {})),
                   Op("RFFT2D", [rows, ints(1, length)], [z], ("Rfft2dOptions", {})), change, op], [x], [y])]


@case("EXPAND_DIMS complex")
def expand(rng):
    x = Tensor([2, 8])
    z = Tensor(transformed(x.shape, [2, 8]), "complex64")
    axis = int(rng.integers(-3, 3))
    shape = list(z.shape)
    shape.insert(axis % 3, 1)
    wide = Tensor(shape, "complex64")
    op, y = parts(wide, shape, "COMPLEX_ABS")
    return [Graph([Op("RFFT2D", [x, ints(2, 8)], [z], ("Rfft2dOptions", {})),
                   Op("EXPAND_DIMS", [z, ints(axis)], [wide], ("ExpandDimsOptions", {})), op], [x], [y])]
