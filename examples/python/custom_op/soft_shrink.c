/* An operator of one's own, in C: y = sign(x) * max(|x| - 0.5, 0), for any shape. No Mote library is linked. */
#include "mote/api/custom_op.h"

enum { kF32 = 1, kOk = 0, kUnsupported = 2 };

/* Called by the verifier with every program that uses the operator: everything that run() relies on is checked here. */
static uint32_t infer(void* user, const mote_op_call* call, mote_op_type* out) {
  const mote_op_tensor* x = &call->inputs[0];
  (void)user;
  if (x->dtype != kF32) return kUnsupported;
  out->dtype = kF32;
  out->rank = x->rank;
  for (int i = 0; i < x->rank; ++i) out->dims[i] = x->dims[i];
  return kOk;
}

static float shrink(float x) { return x > 0.5f ? x - 0.5f : x < -0.5f ? x + 0.5f : 0.0f; }

/* Strides are bytes and may leave gaps; the innermost dimension is dense. */
static void walk(const mote_op_tensor* x, const mote_op_tensor* y, int axis, const char* from, char* to) {
  if (axis == x->rank) {
    *(float*)to = shrink(*(const float*)from);
    return;
  }
  for (int32_t i = 0; i < x->dims[axis]; ++i)
    walk(x, y, axis + 1, from + (int64_t)i * x->strides[axis], to + (int64_t)i * y->strides[axis]);
}

static uint32_t run(void* user, const mote_op_call* call) {
  (void)user;
  walk(&call->inputs[0], &call->outputs[0], 0, (const char*)call->inputs[0].data, (char*)call->outputs[0].data);
  return kOk;
}

static const mote_custom_op ops[] = {
    {MOTE_CUSTOM_OP_ABI, MOTE_OP_ELEMENTWISE, "acme::soft_shrink", 0, 0, 1, 1, 1, 1, infer, run, 0},
};

/* What mote.load_custom_ops() looks for. */
const mote_custom_op* mote_custom_ops(uint32_t* count) {
  *count = sizeof ops / sizeof *ops;
  return ops;
}
