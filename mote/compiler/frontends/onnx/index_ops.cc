// Operators that take or put elements by index, or find indices.

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/compress/compress.h"
#include "mote/ops/gather/gather.h"
#include "mote/ops/gather_elements/gather_elements.h"
#include "mote/ops/gather_nd/gather_nd.h"
#include "mote/ops/one_hot/one_hot.h"
#include "mote/ops/scatter_elements/scatter_elements.h"
#include "mote/ops/scatter_nd/scatter_nd.h"
#include "mote/ops/top_k/top_k.h"
#include "mote/ops/unique/unique.h"

namespace mote::frontends::onnx {
namespace {

template <class Attrs, OpId id>
void import_along_axis(NodeContext& c) {
  Attrs a;
  a.axis = to_s32(c.attr_int("axis", 0));
  c.out(0, c.b.op(id, a, {c.in(0), c.in(1)}));
}

void import_gather_nd(NodeContext& c) {
  ops::gather_nd::Attrs a;
  a.batch_dims = to_s32(c.attr_int("batch_dims", 0));
  c.out(0, c.b.op(OpId::gather_nd, a, {c.in(0), c.in(1)}));
}

bool scatter_reduction(NodeContext& c, int32_t* out) {
  static const std::map<std::string, int32_t> kKinds = {{"none", ops::kScatterSet},
                                                        {"add", ops::kScatterAdd},
                                                        {"mul", ops::kScatterMul},
                                                        {"min", ops::kScatterMin},
                                                        {"max", ops::kScatterMax}};
  const std::string kind = c.attr_string("reduction", "none");
  const auto it = kKinds.find(kind);
  if (it == kKinds.end()) {
    c.fail("attribute reduction: expected none, add, mul, min or max, found '" + kind + "'");
    return false;
  }
  *out = it->second;
  return true;
}

void import_scatter_elements(NodeContext& c) {
  ops::scatter_elements::Attrs a;
  a.axis = to_s32(c.attr_int("axis", 0));
  if (scatter_reduction(c, &a.reduction)) c.out(0, c.b.op(OpId::scatter_elements, a, {c.in(0), c.in(1), c.in(2)}));
}

void import_scatter_nd(NodeContext& c) {
  ops::scatter_nd::Attrs a;
  if (scatter_reduction(c, &a.reduction)) c.out(0, c.b.op(OpId::scatter_nd, a, {c.in(0), c.in(1), c.in(2)}));
}

// Writes `update` into a cache along one axis, each batch from its own position on.
void import_tensor_scatter(NodeContext& c) {
  Value *cache = c.in(0), *update = c.in(1);
  const std::string mode = c.attr_string("mode", "linear");
  const int rank = cache->type.rank();
  int axis;
  if (mode != "linear" && mode != "circular") return c.fail("attribute mode: expected linear or circular, found '" + mode + "'");
  if (!to_axis(c, c.attr_int("axis", -2), rank, &axis) || update->type.rank() != rank) return c.fail("cache and update differ in rank");
  if (axis == 0) return c.fail("attribute axis: the batch axis 0 cannot be written along");
  Value *count = sizes_of(c, update, {axis}), *zero = Decompose(c).number(0, DType::s64), *one = Decompose(c).number(1, DType::s64);
  Value* steps = count == nullptr ? nullptr : c.b.op(OpId::range, {zero, c.b.squeeze(count, {0}), one});
  std::vector<int64_t> step_dims(static_cast<size_t>(rank), 1), batch_dims = step_dims;
  step_dims[static_cast<size_t>(axis)] = -1;
  batch_dims[0] = -1;
  Value* index = Decompose(c).reshape(steps, step_dims);
  if (c.in(2) != nullptr) index = binary(c, OpId::add, Decompose(c).reshape(c.b.cast(c.in(2), DType::s64), batch_dims), index);
  if (mode == "circular") index = binary(c, OpId::mod, index, sizes_of(c, cache, {axis}));
  if (index == nullptr) return;
  ops::scatter_elements::Attrs a;
  a.axis = axis;
  Value* indices = c.b.op(OpId::expand, {index, Decompose(c).shape_of(update)});
  c.out(0, c.b.op(OpId::scatter_elements, a, {cache, indices, update}));
}

void import_one_hot(NodeContext& c) {
  ops::one_hot::Attrs a;
  a.axis = to_s32(c.attr_int("axis", -1));
  c.out(0, c.b.op(OpId::one_hot, a, {c.in(0), c.in(1), c.in(2)}));
}

// The count is an attribute before opset 10.
void import_top_k(NodeContext& c) {
  ops::top_k::Attrs a;
  a.axis = to_s32(c.attr_int("axis", -1));
  a.largest = static_cast<int32_t>(c.attr_int("largest", 1));
  std::vector<int64_t> k;
  std::vector<Value*> inputs = {c.in(0)};
  if (c.in(1) == nullptr) k = {c.attr_int("k", 0)};
  else if (!known_list(c.in(1), &k)) inputs.push_back(c.in(1));
  if (inputs.size() == 1 && k.size() != 1) return c.fail("expected one number as K, found " + std::to_string(k.size()));
  if (inputs.size() == 1) a.k = to_s32(k[0]);
  const auto out = c.b.ops(OpId::top_k, a, inputs, 2);
  for (size_t i = 0; i < out.size(); ++i) c.out(static_cast<int>(i), out[i]);
}

void import_unique(NodeContext& c) {
  ops::unique::Attrs a;
  a.sorted = static_cast<int32_t>(c.attr_int("sorted", 1));
  a.has_axis = c.attr("axis") != nullptr ? 1 : 0;
  a.axis = to_s32(c.attr_int("axis", 0));
  const auto out = c.b.ops(OpId::unique, a, {c.in(0)}, 4);
  for (size_t i = 0; i < out.size(); ++i) c.out(static_cast<int>(i), out[i]);
}

void import_compress(NodeContext& c) {
  ops::compress::Attrs a;
  a.has_axis = c.attr("axis") != nullptr ? 1 : 0;
  a.axis = to_s32(c.attr_int("axis", 0));
  c.out(0, c.b.op(OpId::compress, a, {c.in(0), c.in(1)}));
}

}  // namespace

void add_index_ops(OpTable& table);
void add_index_ops(OpTable& table) {
  add_lines(table, {{"Gather", import_along_axis<ops::gather::Attrs, OpId::gather>, 1, 2},
                    {"GatherElements", import_along_axis<ops::gather_elements::Attrs, OpId::gather_elements>, 1, 2},
                    {"GatherND", import_gather_nd, 1, 2},
                    {"Scatter", import_scatter_elements, 1, 3},
                    {"ScatterElements", import_scatter_elements, 1, 3},
                    {"ScatterND", import_scatter_nd, 1, 3},
                    {"TensorScatter", import_tensor_scatter, 1, 2},
                    {"OneHot", import_one_hot, 1, 3},
                    {"TopK", import_top_k},
                    {"NonZero", import_plain<OpId::non_zero, 1>},
                    {"Unique", import_unique},
                    {"Compress", import_compress, 1, 2}});
}

}  // namespace mote::frontends::onnx
