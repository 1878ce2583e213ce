#pragma once

// Operators by family: each function says why it cannot run one (null: it can) and, with a session, adds the library's operators.

#include <limits>

#include "mote/backends/xnnpack/session.h"
#include "mote/ops/op_id.h"

namespace mote::backends::xnnpack {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kMostDims = 6;  // of the library

// What limits a result, and whether more must follow; of operators with an activation.
struct Finish {
  float least, most;
  bool more = false;  // the activation is no clamp
};

const char* lower_op(const OpView& op, Session* s);

const char* lower_conv(const OpView& op, Session* s);
const char* lower_product(const OpView& op, Session* s);
const char* lower_pool(const OpView& op, Session* s);
const char* lower_mean(const OpView& op, Session* s);
const char* lower_unary(const OpView& op, Session* s);
const char* lower_binary(const OpView& op, Session* s);
const char* lower_softmax(const OpView& op, Session* s);
const char* lower_move(const OpView& op, Session* s);

// Element by element with broadcasting, into `out`; null op: not one of the library's.
const char* add_binary(Session* s, OpId op, const Operand& a, const Operand& b, const float* a_at, const float* b_at, float* out,
                       float least, float most);
// Over `count` neighbours.
bool add_unary(Session* s, OpId op, size_t count, const float* in, float* out);
void add_clamp(Session* s, size_t count, const float* in, float* out, float least, float most);
void add_leaky(Session* s, size_t count, const float* in, float* out, float slope);
void add_elu(Session* s, size_t count, const float* in, float* out, float alpha);

}  // namespace mote::backends::xnnpack
