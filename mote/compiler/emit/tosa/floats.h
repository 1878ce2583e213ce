#pragma once

// Arithmetic of floats for formulas of several operators.

#include "mote/compiler/emit/tosa/writer.h"

namespace mote::emit::tosa {

constexpr double kMostFloat = 3.4028234663852886e38;

// Numbers and operators for tensors of one type and rank.
struct Floats {
  Writer& w;
  fb::DType type;
  int rank;

  Floats(Writer& writer, const Operand& x) : w(writer), type(x.type), rank(static_cast<int>(x.dims.size())) {}

  Operand number(double v) { return w.number(type, v, rank); }
  Operand one(fb::Op code, const Operand& x) { return w.op(code, {x}, x.type, x.dims); }
  Operand add(const Operand& x, const Operand& y) { return w.binary(fb::Op::ADD, x, y); }
  Operand add(const Operand& x, double y) { return y == 0 ? x : add(x, number(y)); }
  Operand sub(const Operand& x, const Operand& y) { return w.binary(fb::Op::SUB, x, y); }
  Operand mul(const Operand& x, const Operand& y) { return w.binary(fb::Op::MUL, x, y); }
  Operand mul(const Operand& x, double y) { return y == 1 ? x : mul(x, number(y)); }
  Operand reciprocal(const Operand& x) { return one(fb::Op::RECIPROCAL, x); }
  Operand exp(const Operand& x) { return one(fb::Op::EXP, x); }
  Operand log(const Operand& x) { return one(fb::Op::LOG, x); }
  Operand abs(const Operand& x) { return one(fb::Op::ABS, x); }
  Operand sqrt(const Operand& x) { return w.binary(fb::Op::POW, x, number(0.5)); }
  Operand above(const Operand& x, double bound) { return w.binary(fb::Op::GREATER, x, number(bound)); }
  Operand least(const Operand& x, double bound) { return w.clamp(x, -kMostFloat, bound); }
  Operand most(const Operand& x, double bound) { return w.clamp(x, bound, kMostFloat); }
  Operand choose(const Operand& c, const Operand& x, const Operand& y) { return w.op(fb::Op::SELECT, {c, x, y}, x.type, c.dims); }
};

// An activation of products (ops::Activation), or of an operator that is one.
Operand activate(Writer& w, const Operand& x, uint32_t kind, float a, float b);
// reductions.cc: REDUCE_SUM and its kin along one axis, which stays with size 1.
Operand reduce(Writer& w, const Operand& x, OpId id, int axis);

}  // namespace mote::emit::tosa
