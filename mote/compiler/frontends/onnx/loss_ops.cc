#include <algorithm>

#include "mote/compiler/frontends/onnx/op_support.h"
#include "mote/ops/common/class_loss.h"
#include "mote/ops/log_softmax/log_softmax.h"
#include "mote/ops/softmax/softmax.h"

namespace mote::frontends::onnx {
namespace {

template <OpId kId, class A>
void import_softmax(NodeContext& c) {
  A a;
  a.axis = axis_of(c, c.attr_int("axis", -1), rank_of(c.in(0)));
  if (c.b.ok()) c.out(0, c.b.op(kId, a, {c.in(0)}));
}

// Before opset 13 all dimensions from the axis on are one.
template <OpId kId, class A>
void import_flat_softmax(NodeContext& c) {
  Decompose d(c);
  A a;
  const int rank = rank_of(c.in(0)), axis = axis_of(c, c.attr_int("axis", 1), rank);
  if (!c.b.ok()) return;
  a.axis = -1;
  if (rank == 0 || axis == rank - 1) return c.out(0, c.b.op(kId, a, {c.in(0)}));
  ir::Dims flat(static_cast<size_t>(axis), 0);
  flat.push_back(-1);
  Value *rows = c.b.reshape(c.in(0), flat), *y = c.b.ok() ? c.b.op(kId, a, {rows}) : nullptr;
  if (c.b.ok()) c.out(0, reshape_by(c, y, d.shape_of(c.in(0))));
}

bool read_loss(NodeContext& c, ops::ClassLossAttrs* a) {
  const std::string reduction = c.attr_string("reduction", "mean");
  a->reduction = reduction == "none" ? ops::kLossNone : reduction == "sum" ? ops::kLossSum : ops::kLossMean;
  a->ignore_index = to_s32(c.attr_int("ignore_index", INT32_MIN));
  return c.b.ok();
}

void import_loss(NodeContext& c, OpId id, size_t outputs) {
  ops::ClassLossAttrs a;
  if (!read_loss(c, &a)) return;
  std::vector<Value*> in{c.in(0), c.in(1)};
  if (c.in(2) != nullptr) in.push_back(c.in(2));
  const std::vector<Value*> y = c.b.ops(id, a, in, outputs);
  for (size_t i = 0; i < y.size(); ++i) c.out(static_cast<int>(i), y[i]);
}

void import_nll(NodeContext& c) { import_loss(c, OpId::nll_loss, 1); }
void import_cross_entropy(NodeContext& c) { import_loss(c, OpId::softmax_cross_entropy, c.wants(1) ? 2 : 1); }

// Nothing is dropped outside of training.
void import_dropout(NodeContext& c) {
  Decompose d(c);
  bool training = c.opset < 7 && c.attr_int("is_test", 0) == 0;
  std::vector<int64_t> mode;
  std::vector<double> ratio;
  const bool ratio_known = c.in(1) != nullptr && ir::known_floats(*c.in(1), &ratio) && ratio.size() == 1;
  if (c.opset >= 12 && c.in(2) != nullptr) training = !ir::known_ints(*c.in(2), &mode) || (mode.size() == 1 && mode[0] != 0);
  if (training && !(ratio_known && ratio[0] == 0))
    return c.fail("drops elements at random, which only training needs and no run could repeat", "export the model for inference");
  c.out(0, c.b.op(OpId::copy, {c.in(0)}));
  if (!c.wants(1)) return;
  const DType mask = c.opset >= 10 ? DType::boolean : dtype_of_value(c.in(0));
  c.out(1, d.fill(1, mask, d.shape_of(c.in(0))));
}

}  // namespace

void add_loss_ops(OpTable& table);
void add_loss_ops(OpTable& table) {
  using ops::log_softmax::Attrs;
  add_lines(table, {{"Softmax", import_flat_softmax<OpId::softmax, ops::softmax::Attrs>},
                    {"Softmax", import_softmax<OpId::softmax, ops::softmax::Attrs>, 13},
                    {"LogSoftmax", import_flat_softmax<OpId::log_softmax, Attrs>},
                    {"LogSoftmax", import_softmax<OpId::log_softmax, Attrs>, 13},
                    {"NegativeLogLikelihoodLoss", import_nll, 12, 2},
                    {"SoftmaxCrossEntropyLoss", import_cross_entropy, 12, 2},
                    {"Dropout", import_dropout}});
}

}  // namespace mote::frontends::onnx
