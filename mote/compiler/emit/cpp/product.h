#pragma once

// Quantized convolutions and matrix products as their kernels see them: weights, and one short form for every channel's scaling.

#include <vector>

#include "mote/compiler/emit/cpp/requant.h"
#include "mote/compiler/emit/cpp/source.h"
#include "mote/ops/common/weights.h"
#include "mote/ops/q_conv/q_conv.h"
#include "mote/ops/q_matmul/q_matmul.h"

namespace mote::emit {

struct Product {
  int32_t outputs = 0, inputs = 0;  // channels, and weights of each
  int32_t x_zero = 0, y_zero = 0, lo = -128, hi = 127, left = 0;
  int32_t limit = 0;            // more than 0: sums may be cut to [-limit, limit] before they are scaled
  std::vector<int8_t> weights;  // (outputs, inputs)
  std::vector<int32_t> biases;
  std::vector<double> factors;               // what sums are multiplied by
  std::vector<int32_t> multipliers, shifts;  // of factors in fixed point; empty for others
  bool half_away = false;                    // how products with a factor in floating point are rounded
  bool f32 = false;
  std::vector<cortexm::Channel> channels;

  int32_t weight(int32_t n, int32_t k) const {
    return weights[static_cast<size_t>(n) * static_cast<size_t>(inputs) + static_cast<size_t>(k)];
  }
  // Four words each, filled up to a multiple of `group` channels.
  std::vector<int32_t> channel_words(size_t group) const;

  // For Helium. Weights: for every `count` channels and every `block` inputs, those of one channel after the other, filled up with zeros.
  std::vector<uint8_t> blocks(int32_t count, int32_t block) const;
  // For every 4 channels their biases, multipliers, what is added, shifts to the left. by_two: of every 8, the even ones first.
  std::vector<int32_t> channel_blocks(bool by_two = false) const;
};

// False for types and operands the kernels do not know.
template <class A>
bool read_product(const Source& s, const Instruction& n, const A& a, Product* out);
extern template bool read_product(const Source&, const Instruction&, const ops::q_conv::Attrs&, Product*);
extern template bool read_product(const Source&, const Instruction&, const ops::q_matmul::Attrs&, Product*);

// Sets left and channels, so that results are the operator's own for all inputs. False when that was not possible.
// may_limit: the kernel can cut sums, which gives those that count a finer grid.
bool find_channels(Product* p, bool may_limit = false);

}  // namespace mote::emit
