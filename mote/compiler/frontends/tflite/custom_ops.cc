// Custom operators of well-known models.

#include <cstring>

#include "mote/compiler/frontends/tflite/flexbuffer.h"
#include "mote/compiler/frontends/tflite/products.h"
#include "mote/compiler/frontends/tflite/window.h"
#include "mote/ops/dequantize/dequantize.h"
#include "mote/ops/detection_postprocess/detection_postprocess.h"
#include "mote/ops/max_pool/max_pool.h"
#include "mote/ops/max_unpool/max_unpool.h"

namespace mote::frontends::tflite {
namespace {

// A quantized operand as real numbers.
Value* real(Op& op, uint32_t i) {
  Value* v = op.value(i);
  if (v == nullptr || v->type.dtype == DType::f32) return v;
  if (!need_scale(op, op.in(i))) return nullptr;
  ir::Graph& g = op.b.graph();
  return op.b.op(OpId::dequantize, ops::dequantize::Attrs{}, {v, g.scalar<float>(op.in(i).scale()), g.scalar<int32_t>(op.in(i).zero())});
}

}  // namespace

// inputs: box encodings (1, N, 4), class scores (1, N, classes), anchors (N, 4); all may be quantized.
void import_detection_postprocess(Op& op) {
  const FlexMap o(op.source.custom_options);
  if (!o.ok()) return op.fail("the options are damaged");
  ops::detection_postprocess::Attrs a;
  a.max_detections = o.integer("max_detections", 0);
  a.max_classes_per_detection = o.integer("max_classes_per_detection", 0);
  a.detections_per_class = o.integer("detections_per_class", 100);
  a.use_regular_nms = o.integer("use_regular_nms", 0) != 0 ? 1 : 0;
  a.num_classes = o.integer("num_classes", 0);
  a.nms_score_threshold = o.real("nms_score_threshold", 0);
  a.nms_iou_threshold = o.real("nms_iou_threshold", 0);
  a.y_scale = o.real("y_scale", 0);
  a.x_scale = o.real("x_scale", 0);
  a.h_scale = o.real("h_scale", 0);
  a.w_scale = o.real("w_scale", 0);
  const std::vector<Value*> out = op.b.ops(OpId::detection_postprocess, a, {real(op, 0), real(op, 1), real(op, 2)}, 4);
  for (uint32_t i = 0; i < out.size(); ++i) op.set(i, out[i]);
}

namespace {

// The struct MediaPipe writes: padding (1 same, 2 valid), stride width and height, window width and height, ...
bool pool_options(Op& op, int32_t* o, size_t count) {
  if (op.source.custom_options.size < count * sizeof(int32_t)) {
    op.fail("expected " + std::to_string(count * sizeof(int32_t)) + " bytes of options, found " +
            std::to_string(op.source.custom_options.size));
    return false;
  }
  std::memcpy(o, op.source.custom_options.data, count * sizeof(int32_t));
  return true;
}

}  // namespace

// Positions are given within their window, as f32.
void import_max_pool_with_argmax(Op& op) {
  int32_t o[5] = {};
  Value* x = op.value(0);
  if (x == nullptr || !pool_options(op, o, 5)) return;
  if (x->type.rank() != 4) return op.fail("expected an input of 4 dimensions, found " + describe(op.in(0)));
  if (op.outputs() > 1 && op.out(1).dtype != DType::s32 && op.out(1).dtype != DType::s64)
    return op.fail("positions of type " + describe(op.out(1)) + " are not supported");
  Window w{{o[2], o[1], 1}};
  const Dims kernel{o[4], o[3]};
  if (!pad_window(op, *x, kernel, o[0] == 1 ? fb::Padding::SAME : fb::Padding::VALID, &w)) return;
  ops::max_pool::Attrs a;
  for (size_t i = 0; i < 2; ++i) {
    a.kernel[i] = kernel[i];
    a.strides[i] = w.strides[i];
    a.pads_begin[i] = w.begin[i];
    a.pads_end[i] = w.end[i];
  }
  const std::vector<Value*> out = op.b.ops(OpId::max_pool, a, {x}, 2);
  if (out.empty()) return;
  op.set(0, out[0]);
  if (op.outputs() > 1) op.set(1, op.b.cast(out[1], op.out(1).dtype));
}

void import_max_unpool(Op& op) {
  int32_t o[5] = {};
  Value *x = op.value(0), *indices = op.value(1);
  if (x == nullptr || indices == nullptr || !pool_options(op, o, 5)) return;
  if (x->type.rank() != 4) return op.fail("expected an input of 4 dimensions, found " + describe(op.in(0)));
  const bool same = o[0] == 1;
  ops::max_unpool::Attrs a;
  for (int i = 0; i < 2; ++i) {
    const int64_t stride = o[2 - i], size = same ? x->type.dims[static_cast<size_t>(i) + 1] * stride
                                                 : (x->type.dims[static_cast<size_t>(i) + 1] - 1) * stride + o[4 - i];
    if (stride < 1 || size < 1 || size > INT32_MAX) return op.fail("expected strides and windows of at least 1");
    a.dims[i] = static_cast<int32_t>(size);
  }
  op.set(op.b.op(OpId::max_unpool, a, {x, op.b.cast(indices, DType::s64)}));
}

}  // namespace mote::frontends::tflite
