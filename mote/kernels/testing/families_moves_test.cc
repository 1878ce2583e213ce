// Families: operators that move elements, of one, two, four and eight bytes.

#include "mote/kernels/testing/families.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/expand/expand.h"
#include "mote/ops/fill/fill.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/resize/resize.h"
#include "mote/ops/reverse/reverse.h"
#include "mote/ops/scatter_nd/scatter_nd.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/space_to_depth/space_to_depth.h"
#include "mote/ops/split/split.h"
#include "mote/ops/tile/tile.h"
#include "mote/ops/transpose/transpose.h"

namespace mote::kerneltest {
namespace {

void joins(Draw& d, DType type, int32_t c) {
  const auto some = [&](const Shape& shape) { return Array::random(type, shape, d.seed()); };
  expect_equal(OpId::concat, ops::concat::Attrs{1}, {some({3, c}), some({3, 7}), some({3, c})}, {}, false);
  RunOptions options;
  options.outputs = 2;
  expect_equal(OpId::split, ops::split::Attrs{1}, {some({3, 2 * c})}, options, false);
  ops::slice::Attrs s;
  s.count = 1, s.axes[0] = 1, s.starts[0] = 1, s.ends[0] = c + 1, s.steps[0] = 1;
  expect_equal(OpId::slice, s, {some({3, c + 3})}, {}, false);
  s.starts[0] = c + 2, s.ends[0] = -c - 9, s.steps[0] = -2;
  expect_equal(OpId::slice, s, {some({3, c + 3})}, {}, false);
  expect_equal(OpId::copy, NoAttrs{}, {some({3, c})}, {}, false);
}

void repeats(Draw& d, DType type, int32_t c) {
  const Array x = Array::random(type, {2, 3, c}, d.seed());
  ops::tile::Attrs t;
  t.repeats[0] = 1, t.repeats[1] = 2, t.repeats[2] = 3;
  expect_equal(OpId::tile, t, {x}, {}, false);
  ops::expand::Attrs e;
  e.rank = 3, e.dims[0] = 2, e.dims[1] = 3, e.dims[2] = c;
  expect_equal(OpId::expand, e, {Array::random(type, {3, 1}, d.seed())}, {}, false);
  expect_equal(OpId::expand, e, {Array::random(type, {c}, d.seed())}, {}, false);
  ops::reverse::Attrs r;
  r.count = 1, r.axes[0] = d.in(0, 2);
  expect_equal(OpId::reverse, r, {x}, {}, false);
  ops::fill::Attrs f;
  f.rank = 2, f.dims[0] = 3, f.dims[1] = c;
  expect_equal(OpId::fill, f, {Array::random(type, {1}, d.seed())}, {}, false);
  ops::pad::Attrs p;
  p.begin[2] = 1, p.end[2] = 2, p.begin[1] = 1;
  for (p.mode = 0; p.mode < (c > 2 ? ops::pad::kModeCount : 1); ++p.mode) expect_equal(OpId::pad, p, {x}, {}, false);
}

void transposes(Draw& d, DType type, int32_t c) {
  for (int32_t i = 0; i < 3; ++i) {
    ops::transpose::Attrs a;
    a.rank = 3;
    for (int32_t k = 0; k < 3; ++k) a.perm[k] = (k + i) % 3;
    expect_equal(OpId::transpose, a, {Array::random(type, {3, 5, c}, d.seed())}, {}, false);
    std::swap(a.perm[0], a.perm[2]);
    expect_equal(OpId::transpose, a, {Array::random(type, {3, 5, c}, d.seed())}, {}, false);
  }
  for (int32_t mode = 0; mode < 2; ++mode) {
    expect_equal(OpId::depth_to_space, ops::depth_to_space::Attrs{2, mode}, {Array::random(type, {1, 2, 3, 4 * c}, d.seed())}, {}, false);
    expect_equal(OpId::space_to_depth, ops::space_to_depth::Attrs{2, mode}, {Array::random(type, {1, 4, 6, c}, d.seed())}, {}, false);
  }
}

void picks(Draw& d, DType type, int32_t c) {
  const Array x = Array::random(type, {5, c}, d.seed());
  for (int32_t axis = 0; axis < 2; ++axis) {
    const int32_t n = axis == 0 ? 5 : c;
    expect_equal(OpId::gather, ops::gather::Attrs{axis, 0}, {x, Array::random(DType::s64, {2, 3}, d.seed(), -n, n - 1)}, {}, false);
  }
  expect_equal(OpId::scatter_nd, ops::scatter_nd::Attrs{0},
               {x, Array::from(DType::s64, {2, 1}, {3, -5}), Array::random(type, {2, c}, d.seed())}, {}, false);
}

void resizes(Draw& d, int32_t c) {
  for (int32_t mode = 0; mode < 2; ++mode) {
    ops::resize::Attrs a;
    a.mode = mode, a.sizes[0] = 7, a.sizes[1] = 5;
    expect_close(OpId::resize, a, {d.f32({1, 3, 4, c})}, 1e-6, {}, false);
    a.sizes[0] = 6, a.sizes[1] = 8;
    expect_close(OpId::resize, a, {d.f32({1, 3, 4, c})}, 1e-6, {}, false);
    if (mode == 0) expect_equal(OpId::resize, a, {Array::random(DType::s8, {1, 3, 4, c}, d.seed())}, {}, false);
  }
}

}  // namespace

void add_move_families(std::vector<Family>* all) {
  for (const DType type : {DType::s8, DType::f16, DType::f32, DType::s64}) {
    const auto add = [&](const char* name, auto run) {
      all->push_back({std::string(name) + "_" + dtype_name(type), [=](Draw& d, int32_t c, bool) { run(d, type, c); }});
    };
    add("joins", joins);
    add("repeats", repeats);
    add("transposes", transposes);
    add("picks", picks);
  }
  all->push_back({"resizes", [](Draw& d, int32_t c, bool) { resizes(d, c); }});
}

}  // namespace mote::kerneltest
