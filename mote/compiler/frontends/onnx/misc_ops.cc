// Operators that make tensors from nothing, and those that fit no other family.

#include "mote/compiler/frontends/onnx/import.h"
#include "mote/compiler/frontends/onnx/narrow.h"
#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/eye/eye.h"

namespace mote::frontends::onnx {
namespace {

void constant_texts(NodeContext& c, const ::onnx::AttributeProto& a) {
  Texts& texts = c.importer.texts();
  Value* v = a.name() == "value_string" ? c.b.graph().scalar<int64_t>(texts.index_of(a.s()))
                                        : c.b.graph().constant<int64_t>({a.strings_size()}, texts.indices_of(a.strings()));
  texts.mark(v);
  c.out(0, v);
}

void import_constant(NodeContext& c) {
  if (c.proto.attribute_size() != 1) return c.fail("expected exactly one attribute with the value");
  const std::string name = c.proto.attribute(0).name();
  const auto* a = c.attr(name.c_str());
  if (a == nullptr) return c.fail("the attribute with the value is missing");
  ir::Graph& g = c.b.graph();
  const auto length = [](int n) { return ir::Dims{n}; };
  if (name == "value") return c.out(0, c.constant(a->t()), narrow_element(a->t().data_type()));
  if (name == "value_float") return c.out(0, g.scalar<float>(a->f()));
  if (name == "value_int") return c.out(0, g.scalar<int64_t>(a->i()));
  if (name == "value_floats") return c.out(0, g.constant<float>(length(a->floats_size()), {a->floats().begin(), a->floats().end()}));
  if (name == "value_ints") return c.out(0, g.constant<int64_t>(length(a->ints_size()), {a->ints().begin(), a->ints().end()}));
  if (name == "value_string" || name == "value_strings") return constant_texts(c, *a);
  if (name != "sparse_value") return c.fail("a constant given as '" + name + "' is not possible", "strings cannot be part of a program");
  std::string error;
  Value* dense = c.importer.tensors().make_dense(a->sparse_tensor(), "", &error);
  if (dense == nullptr) c.fail(error);
  c.out(0, dense);
}

void import_range(NodeContext& c) {
  const DType type = c.in(0)->type.dtype;
  c.out(0, c.b.op(OpId::range, {c.in(0), c.b.cast(c.in(1), type), c.b.cast(c.in(2), type)}));
}

void import_eye_like(NodeContext& c) {
  ops::eye::Attrs a;
  a.k = to_s32(c.attr_int("k", 0));
  if (c.attr("dtype") != nullptr) {
    const int wanted = static_cast<int>(c.attr_int("dtype", 0));
    a.dtype = static_cast<int32_t>(to_dtype(wanted));
    if (a.dtype == 0) return c.fail("element type " + onnx_type_name(wanted) + " is not possible");
  }
  c.out(0, c.b.op(OpId::eye, a, {c.in(0)}));
}

}  // namespace

void add_misc_ops(OpTable& table);
void add_misc_ops(OpTable& table) {
  add_lines(table, {{"Constant", import_constant, 1, 0}, {"Range", import_range, 1, 3}, {"EyeLike", import_eye_like}});
}

}  // namespace mote::frontends::onnx
