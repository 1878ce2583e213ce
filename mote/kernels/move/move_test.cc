#include "mote/kernels/testing/differential.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/space_to_depth/space_to_depth.h"
#include "mote/ops/split/split.h"
#include "mote/ops/tile/tile.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::kerneltest {
namespace {

const DType kTypes[] = {DType::f32, DType::s8, DType::f16, DType::s64};

// Calls test(draw, type) for elements of every width.
template <class F>
void every_width(uint32_t count, const F& test) {
  for (DType type : kTypes) {
    SCOPED_TRACE(dtype_name(type));
    many(count, [&](Draw& d) { test(d, type); });
  }
}

TEST(MoveKernels, Transpose) {
  every_width(50, [](Draw& d, DType type) {
    const int32_t rank = d.in(1, 5);
    Shape shape;
    for (int32_t i = 0; i < rank; ++i) shape.push_back(rank < 4 && d.one_in(2) ? d.in(3, 40) : d.in(1, 9));
    ops::transpose::Attrs a;
    a.rank = d.one_in(5) ? 0 : rank;
    for (int32_t i = 0; i < rank; ++i) a.perm[i] = i;
    for (int32_t i = 0; i < rank; ++i) std::swap(a.perm[i], a.perm[d.in(0, rank - 1)]);
    expect_equal(OpId::transpose, a, {Array::random(type, shape, d.seed())});
  });
  // Pictures to channels last and back.
  for (int32_t channels : {1, 3, 4, 32}) {
    ops::transpose::Attrs last, first;
    last.rank = first.rank = 4;
    for (int i = 0; i < 4; ++i) last.perm[i] = i == 0 ? 0 : i == 3 ? 1 : i + 1, first.perm[i] = i == 0 ? 0 : i == 1 ? 3 : i - 1;
    expect_equal(OpId::transpose, last, {Array::random(DType::f32, {1, channels, 61, 67}, 1)});
    expect_equal(OpId::transpose, first, {Array::random(DType::f32, {1, 61, 67, channels}, 1)});
  }
}

TEST(MoveKernels, ConcatAndSplit) {
  every_width(30, [](Draw& d, DType type) {
    const int32_t rank = d.in(1, 4), axis = d.in(0, rank - 1);
    Shape shape = d.shape(rank);
    std::vector<Array> parts;
    for (int i = d.in(1, 4); i > 0; --i) {
      shape[static_cast<size_t>(axis)] = d.in(0, 40);
      parts.push_back(Array::random(type, shape, d.seed()));
    }
    expect_equal(OpId::concat, ops::concat::Attrs{axis}, parts);
    const int32_t pieces = d.in(1, 4);
    shape[static_cast<size_t>(axis)] = pieces * d.in(0, 20);
    RunOptions options;
    options.outputs = pieces;
    expect_equal(OpId::split, ops::split::Attrs{axis}, {Array::random(type, shape, d.seed())}, options);
  });
}

TEST(MoveKernels, SliceReverseExpandTile) {
  every_width(60, [](Draw& d, DType type) {
    const int32_t rank = d.in(1, 4);
    const Shape shape = d.shape(rank);
    const Array x = Array::random(type, shape, d.seed());
    ops::slice::Attrs s;
    ops::reverse::Attrs r;
    ops::tile::Attrs t;
    ops::expand::Attrs e;
    e.rank = rank + 1;
    e.dims[0] = d.in(1, 3);
    Shape narrow = shape;
    for (int32_t i = 0; i < rank; ++i) {
      const int32_t n = shape[static_cast<size_t>(i)];
      if (d.one_in(2)) {
        const int32_t k = s.count++, steps[] = {1, 2, 3, -1, -2};
        s.axes[k] = i;
        s.starts[k] = d.in(-n - 2, n + 2);
        s.ends[k] = d.in(-n - 2, n + 2);
        s.steps[k] = steps[d.in(0, 4)];
      }
      if (d.one_in(2)) r.axes[r.count++] = i;
      t.repeats[i] = d.in(1, 3);
      e.dims[i + 1] = n;
      if (d.one_in(3)) narrow[static_cast<size_t>(i)] = 1;
    }
    expect_equal(OpId::slice, s, {x});
    expect_equal(OpId::reverse, r, {x});
    expect_equal(OpId::tile, t, {x});
    expect_equal(OpId::expand, e, {Array::random(type, narrow, d.seed())});
    expect_equal(OpId::copy, NoAttrs{}, {x});
  });
}

TEST(MoveKernels, Pad) {
  every_width(60, [](Draw& d, DType type) {
    const int32_t rank = d.in(1, 4);
    const Shape shape = d.shape(rank);
    ops::pad::Attrs a;
    a.mode = d.in(0, ops::pad::kModeCount - 1);
    for (int32_t i = 0; i < rank; ++i) {
      const int32_t n = shape[static_cast<size_t>(i)];
      a.begin[i] = d.in(n > 2 ? -1 : 0, 4);
      a.end[i] = d.in(n > 2 ? -1 : 0, 4);
    }
    if (type == DType::f32) a.value = 1.5f;
    expect_equal(OpId::pad, a, {Array::random(type, shape, d.seed()), d.one_in(2) ? Array::scalar(type, 3) : Array::none()});
  });
}

TEST(MoveKernels, Gather) {
  every_width(40, [](Draw& d, DType type) {
    const int32_t rank = d.in(1, 4), axis = d.in(0, rank - 1);
    const Shape shape = d.shape(rank);
    const int32_t n = shape[static_cast<size_t>(axis)];
    const Array indices = Array::random(d.one_in(2) ? DType::s32 : DType::s64, d.shape(d.in(0, 2)), d.seed(), -n, n - 1);
    expect_equal(OpId::gather, ops::gather::Attrs{axis, 0}, {Array::random(type, shape, d.seed()), indices});
  });
}

TEST(MoveKernels, SpaceAndDepth) {
  every_width(20, [](Draw& d, DType type) {
    const int32_t b = d.in(1, 3), n = d.in(1, 2), h = d.in(1, 5), w = d.in(1, 5), c = d.size(), mode = d.in(0, 1);
    expect_equal(OpId::depth_to_space, ops::depth_to_space::Attrs{b, mode}, {Array::random(type, {n, h, w, b * b * c}, d.seed())});
    expect_equal(OpId::space_to_depth, ops::space_to_depth::Attrs{b, mode}, {Array::random(type, {n, h * b, w * b, c}, d.seed())});
  });
}

TEST(MoveKernels, Resize) {
  many(120, [](Draw& d) {
    ops::resize::Attrs a;
    a.mode = d.in(0, 1);
    a.coordinates = d.in(0, 5);
    a.nearest = d.in(0, 3);
    const bool flat = d.one_in(4);
    for (int i = 0; i < (flat ? 1 : 2); ++i) {
      a.sizes[i] = d.in(1, 30);
      if (d.one_in(3)) a.scales[i] = static_cast<float>(d.in(1, 30)) / 8;
    }
    const Shape shape = flat ? Shape{2, d.in(1, 20), d.size()} : Shape{d.in(1, 2), d.in(1, 12), d.in(1, 12), d.size()};
    expect_equal(OpId::resize, a, {Array::random(a.mode == 0 ? kTypes[d.in(0, 3)] : DType::f32, shape, d.seed())});
  });
}

}  // namespace
}  // namespace mote::kerneltest
