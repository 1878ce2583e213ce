#pragma once

// Random numbers from the counter-based generator Philox (Salmon and others, SC 2011), all at once. The counter is a state of the program:
// every run gives others, and a program that begins anew gives the same ones.

#include "mote/compiler/frontends/common/words.h"

namespace mote::frontends {

// Arithmetic on 32-bit words; blocks lie along axis 0.
class RandomBits : public Words {
 public:
  using Words::Words;

  Value* constant(uint32_t v) { return b.graph().constant<uint32_t>({1}, {v}); }
  Value* wide_constant(uint64_t v) { return b.graph().constant<uint64_t>({1}, {v}); }
  Value* xor_(Value* x, Value* y) { return op(OpId::bitwise_xor, {x, y}); }
  Value* plus(Value* x, Value* y) { return op(OpId::add, {x, y}); }
  Value* left(Value* x, uint32_t by) { return op(OpId::shift_left, {x, constant(by)}); }
  Value* right(Value* x, uint32_t by) { return op(OpId::shift_right, {x, constant(by)}); }
  Value* rotated(Value* x, uint32_t by) { return op(OpId::bitwise_or, {left(x, by), right(x, 32 - by)}); }

  Value* wide(Value* x) { return cast(x, DType::u64); }
  Value* low(Value* x) { return cast(op(OpId::bitwise_and, {x, wide_constant(0xffffffffu)}), DType::u32); }
  Value* high(Value* x) { return low(op(OpId::shift_right, {x, wide_constant(32)})); }
  // (n, words) to the u64 numbers that pairs of words make.
  Value* joined(Value* low_words, Value* high_words) {
    return op(OpId::bitwise_or, {op(OpId::shift_left, {wide(high_words), wide_constant(32)}), wide(low_words)});
  }

  // first + 0, 1, ..., first + blocks - 1, as u64.
  Value* counters(Value* first, int64_t blocks);
  // Four words from four, 10 rounds.
  std::vector<Value*> philox(std::vector<Value*> key, std::vector<Value*> x);
};

// What begins the generator of an operator that has no seed.
uint64_t seed_of(const std::string& name);

// f32 numbers of a fixed shape, in the order in which TensorFlow's generator gives them.
class RandomNumbers : public RandomBits {
 public:
  RandomNumbers(ir::NodeBuilder& builder, uint64_t seed, uint64_t seed2) : RandomBits(builder), seed_(seed), seed2_(seed2) {}

  Value* uniform(const ir::Dims& dims);  // 0 <= x < 1, in steps of 2^-23
  Value* normal(const ir::Dims& dims);   // mean 0, deviation 1

 private:
  std::vector<Value*> take(const ir::Dims& dims);  // four words for each block
  Value* unit(Value* words);
  Value* shaped(const std::vector<Value*>& parts, const ir::Dims& dims);

  uint64_t seed_, seed2_;
};

}  // namespace mote::frontends
