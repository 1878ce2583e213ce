// Operators that move elements along whole axes: joining, cutting, padding, exchanging axes.

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/concat/concat.h"
#include "mote/ops/depth_to_space/depth_to_space.h"
#include "mote/ops/pad/pad.h"
#include "mote/ops/reverse_sequence/reverse_sequence.h"
#include "mote/ops/slice/slice.h"
#include "mote/ops/space_to_depth/space_to_depth.h"
#include "mote/ops/split/split.h"
#include "mote/ops/trilu/trilu.h"

namespace mote::frontends::onnx {
namespace {

void import_identity(NodeContext& c) { c.out(0, c.in(0)); }

void import_transpose(NodeContext& c) {
  const std::vector<int64_t> perm = c.attr_ints("perm");
  ir::Dims axes;
  for (const int64_t p : perm) axes.push_back(to_s32(p));
  if (perm.empty())
    for (int i = c.in(0)->type.rank() - 1; i >= 0; --i) axes.push_back(i);
  c.out(0, c.b.transpose(c.in(0), axes));
}

void import_concat(NodeContext& c) {
  ops::concat::Attrs a;
  a.axis = to_s32(c.attr_int("axis", 0));
  for (const Value* v : c.inputs)
    if (v == nullptr) return c.fail("an input is missing");
  c.out(0, c.inputs.size() == 1 ? c.in(0) : c.b.op(OpId::concat, a, c.inputs));
}

// Sizes: an attribute before opset 13, an input since; without them equal parts, the last one smaller.
void import_split(NodeContext& c) {
  ops::split::Attrs a;
  a.axis = to_s32(c.attr_int("axis", 0));
  const int parts = c.proto.output_size();
  Value* sizes = c.in(1);
  if (const auto given = c.attr_ints("split"); sizes == nullptr && !given.empty()) sizes = Decompose(c).ints(given);
  if (const int64_t wanted = c.attr_int("num_outputs", parts); wanted != parts)
    return c.fail("num_outputs is " + std::to_string(wanted) + ", but the node has " + std::to_string(parts) + " outputs");
  std::vector<Value*> inputs = {c.in(0)};
  if (sizes != nullptr) inputs.push_back(sizes);
  const auto out = c.b.ops(OpId::split, a, inputs, static_cast<size_t>(parts));
  for (size_t i = 0; i < out.size(); ++i) c.out(static_cast<int>(i), out[i]);
}

void slice_with(NodeContext& c, const std::vector<int64_t>& starts, const std::vector<int64_t>& ends, std::vector<int64_t> axes,
                std::vector<int64_t> steps) {
  const size_t n = starts.size();
  if (axes.empty())
    for (size_t i = 0; i < n; ++i) axes.push_back(static_cast<int64_t>(i));
  if (steps.empty()) steps.assign(n, 1);
  if (ends.size() != n || axes.size() != n || steps.size() != n) return c.fail("starts, ends, axes and steps differ in length");
  if (n == 0) return c.out(0, c.in(0));
  ops::slice::Attrs a;
  a.count = static_cast<int32_t>(n);
  if (to_list(c, starts, a.starts) && to_list(c, ends, a.ends) && to_list(c, axes, a.axes) && to_list(c, steps, a.steps))
    c.out(0, c.b.op(OpId::slice, a, {c.in(0)}));
}

void import_slice_1(NodeContext& c) { slice_with(c, c.attr_ints("starts"), c.attr_ints("ends"), c.attr_ints("axes"), {}); }

void import_slice(NodeContext& c) {
  std::vector<int64_t> lists[4];
  bool known = true;
  for (int i = 0; i < 4; ++i)
    if (c.in(i + 1) != nullptr) known = known_list(c.in(i + 1), &lists[i]) && known;
  if (known) return slice_with(c, lists[0], lists[1], lists[2], lists[3]);
  c.out(0, c.b.op(OpId::slice, {c.in(0), c.in(1), c.in(2), c.in(3), c.in(4)}));
}

bool pad_mode(NodeContext& c, int32_t* out) {
  const std::string mode = c.attr_string("mode", "constant");
  *out = mode == "constant"  ? ops::pad::kConstant
         : mode == "reflect" ? ops::pad::kReflect
         : mode == "edge"    ? ops::pad::kEdge
                             : ops::pad::kWrap;
  if (*out != ops::pad::kWrap || mode == "wrap") return true;
  c.fail("attribute mode: expected constant, reflect, edge or wrap, found '" + mode + "'");
  return false;
}

// Counts before and after each of `axes` (all when empty) as attributes.
bool set_pads(NodeContext& c, const std::vector<int64_t>& pads, const std::vector<int64_t>& named, ops::pad::Attrs* a) {
  const int rank = c.in(0)->type.rank();
  std::vector<int> axes;
  if (!to_axes(c, named, rank, &axes)) return false;
  if (c.in(3) == nullptr)
    for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (pads.size() != 2 * axes.size()) {
    c.fail("expected " + std::to_string(2 * axes.size()) + " pads, found " + std::to_string(pads.size()));
    return false;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    a->begin[axes[i]] = to_s32(pads[i]);
    a->end[axes[i]] = to_s32(pads[axes.size() + i]);
  }
  return true;
}

void import_pad_2(NodeContext& c) {
  ops::pad::Attrs a;
  a.value = c.attr_float("value", 0);
  if (pad_mode(c, &a.mode) && set_pads(c, c.attr_ints("pads"), {}, &a)) c.out(0, c.b.op(OpId::pad, a, {c.in(0)}));
}

void import_pad(NodeContext& c) {
  ops::pad::Attrs a;
  if (!pad_mode(c, &a.mode)) return;
  Value* value = c.in(2);
  std::vector<int64_t> pads, axes;
  const bool known = known_list(c.in(1), &pads) && (c.in(3) == nullptr || known_list(c.in(3), &axes));
  if (!known) return c.out(0, c.b.op(OpId::pad, a, {c.in(0), value, c.in(1), c.in(3)}));
  if (set_pads(c, pads, axes, &a)) c.out(0, c.b.op(OpId::pad, a, {c.in(0), value}));
}

// Cuts or pads around the middle, to sizes that a value holds.
void import_center_crop_pad(NodeContext& c) {
  Value* x = c.in(0);
  const int rank = x->type.rank();
  std::vector<int64_t> named = c.attr_ints("axes");
  if (c.attr("axes") == nullptr)
    for (int i = 0; i < rank; ++i) named.push_back(i);
  std::vector<int> checked;
  if (!to_axes(c, named, rank, &checked)) return;
  const std::vector<int64_t> axes(checked.begin(), checked.end());
  Value *wanted = c.b.cast(c.in(1), DType::s64), *sizes = sizes_of(c, x, axes), *zero = Decompose(c).ints({0}),
        *two = Decompose(c).ints({2});
  Value* surplus = binary(c, OpId::maximum, binary(c, OpId::sub, sizes, wanted), zero);
  Value* start = binary(c, OpId::div, surplus, two);
  Value* end = binary(c, OpId::add, start, binary(c, OpId::minimum, sizes, wanted));
  if (end == nullptr) return;
  Value* y = c.b.op(OpId::slice, {x, start, end, Decompose(c).ints(axes)});
  Value* missing = binary(c, OpId::maximum, binary(c, OpId::sub, wanted, sizes), zero);
  Value* before = binary(c, OpId::div, missing, two);
  Value* after = binary(c, OpId::sub, missing, before);
  if (after == nullptr || y == nullptr) return;
  Value* pads = c.b.op(OpId::concat, {before, after});
  c.out(0, c.b.op(OpId::pad, {y, nullptr, pads, Decompose(c).ints(axes)}));
}

void import_reverse_sequence(NodeContext& c) {
  ops::reverse_sequence::Attrs a;
  a.batch_axis = to_s32(c.attr_int("batch_axis", 1));
  a.time_axis = to_s32(c.attr_int("time_axis", 0));
  c.out(0, c.b.op(OpId::reverse_sequence, a, {c.in(0), c.in(1)}));
}

void import_trilu(NodeContext& c) {
  ops::trilu::Attrs a;
  a.upper = static_cast<int32_t>(c.attr_int("upper", 1));
  std::vector<int64_t> k;
  const bool known = c.in(1) != nullptr && known_list(c.in(1), &k) && k.size() == 1;
  if (known) a.k = to_s32(k[0]);
  c.out(0, known || c.in(1) == nullptr ? c.b.op(OpId::trilu, a, {c.in(0)}) : c.b.op(OpId::trilu, a, {c.in(0), c.in(1)}));
}

constexpr int32_t kToChannelsLast[] = {0, 2, 3, 1}, kToChannelsFirst[] = {0, 3, 1, 2};

// Images are (N, C, H, W) in ONNX and (N, H, W, C) here.
template <class Attrs>
void blocks_of_pixels(NodeContext& c, OpId id, int32_t mode) {
  Attrs a;
  a.block = to_s32(c.attr_int("blocksize", 1));
  a.mode = mode;
  if (c.in(0)->type.rank() != 4) return c.fail("expected a tensor of rank 4, found rank " + std::to_string(c.in(0)->type.rank()));
  Value* x = c.b.transpose(c.in(0), ir::Dims(kToChannelsLast, kToChannelsLast + 4));
  Value* y = x == nullptr ? nullptr : c.b.op(id, a, {x});
  if (y != nullptr) c.out(0, c.b.transpose(y, ir::Dims(kToChannelsFirst, kToChannelsFirst + 4)));
}

void import_depth_to_space(NodeContext& c) {
  const std::string mode = c.attr_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return c.fail("attribute mode: expected DCR or CRD, found '" + mode + "'");
  blocks_of_pixels<ops::depth_to_space::Attrs>(c, OpId::depth_to_space, mode == "DCR" ? 0 : 1);
}

void import_space_to_depth(NodeContext& c) {
  const std::string mode = c.attr_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return c.fail("attribute mode: expected DCR or CRD, found '" + mode + "'");
  blocks_of_pixels<ops::space_to_depth::Attrs>(c, OpId::space_to_depth, mode == "DCR" ? 0 : 1);
}

}  // namespace

void add_move_ops(OpTable& table);
void add_move_ops(OpTable& table) {
  add_lines(table, {{"Identity", import_identity},
                    {"Transpose", import_transpose},
                    {"Concat", import_concat},
                    {"Split", import_split},
                    {"Slice", import_slice_1},
                    {"Slice", import_slice, 10, 3},
                    {"Pad", import_pad_2},
                    {"Pad", import_pad, 11, 2},
                    {"CenterCropPad", import_center_crop_pad, 1, 2},
                    {"ReverseSequence", import_reverse_sequence, 1, 2},
                    {"Trilu", import_trilu},
                    {"DepthToSpace", import_depth_to_space},
                    {"SpaceToDepth", import_space_to_depth}});
}

}  // namespace mote::frontends::onnx
