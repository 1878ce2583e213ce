// Attention.

#include "mote/ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "mote/backends/common/memory_budget.h"
#include "mote/backends/opencl/device_types.h"
#include "mote/backends/opencl/families.h"
#include "mote/core/size.h"

namespace mote::backends::opencl {
namespace {

constexpr int32_t kAttentionGroup = 64, kQueries = 4;  // attention.cl

// A constant of truths, as numbers to add.
Place add_truths(const Operand& mask, Recorder& r) {
  const auto* truth = static_cast<const uint8_t*>(mask.data);
  std::vector<float> numbers(static_cast<size_t>(mask.count()));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = truth[i] != 0 ? 0.0f : -std::numeric_limits<float>::infinity();
  return r.add_tensor(numbers.data(), numbers.size());
}

// For each batch the keys in use and the place of the first query among them. False when there are more than there are keys.
bool lengths_of(const OpView& op, bool cached, std::vector<int32_t>* out) {
  const int32_t keys = op.inputs[1].dims[2], queries = op.inputs[0].dims[2];
  for (int32_t b = 0; b < op.inputs[0].dims[0]; ++b) {
    int64_t used = keys, offset = cached ? keys - queries : 0;
    if (op.has(4)) {
      const Operand& l = op.inputs[4];
      used = l.dtype == DType::s64 ? static_cast<const int64_t*>(l.data)[b] : static_cast<const int32_t*>(l.data)[b];
      if (used < 0 || used > keys) return false;
      offset = used - queries;
    }
    out->push_back(static_cast<int32_t>(used));
    out->push_back(static_cast<int32_t>(offset));
  }
  return true;
}

}  // namespace

const char* lower_attention(const OpView& op, Recorder* r) {
  const auto& a = op.attributes<ops::attention::Attrs>();
  const Operand &q = op.inputs[0], &k = op.inputs[1], &v = op.inputs[2], &y = op.outputs[0];
  for (const Operand* o : {&q, &k, &v})
    if (o->dtype != DType::f32) return "only f32 is computed there";
  if (op.has(4) && op.inputs[4].data == nullptr) return "its lengths are known only when running";
  std::vector<int32_t> lengths;
  MemoryBudget().take(times(static_cast<uint64_t>(q.dims[0]), 2 * sizeof(int32_t)));
  if (!lengths_of(op, a.cached != 0, &lengths)) return "a length of more keys than there are";
  if (r == nullptr) return nullptr;
  AttentionArgs p{};
  p.heads = q.dims[1], p.key_heads = k.dims[1], p.queries = q.dims[2], p.keys = k.dims[2], p.depth = q.dims[3], p.width = v.dims[3];
  p.causal = a.is_causal, p.left = a.left_window, p.right = a.right_window;
  p.scale = a.scale != 0 ? a.scale : 1 / std::sqrt(static_cast<float>(p.depth));
  p.softcap = a.softcap;
  p.has_mask = op.has(3) ? 1 : 0;
  Place mask;
  if (op.has(3)) {
    const Operand& m = op.inputs[3];
    mask = m.dtype == DType::boolean ? add_truths(m, *r) : m.place;
    int32_t step = 1;
    for (int i = 1; i <= m.rank; ++i) {
      p.mask[4 - i] = m.dim(-i) == 1 ? 0 : step;
      step *= m.dim(-i);
    }
  }
  const auto parts_of = [](int32_t n, int32_t by) { return static_cast<size_t>((n + by - 1) / by); };
  r->launch(op, "attention",
            {parts_of(p.queries, kQueries) * kAttentionGroup, parts_of(p.width, kAttentionGroup), static_cast<size_t>(q.dims[0] * p.heads)},
            {kAttentionGroup, 1, 1})
      .tensor(q.place)
      .tensor(k.place)
      .tensor(v.place)
      .tensor(mask)
      .tensor(r->add_constant(lengths.data(), lengths.size()))
      .tensor(y.place)
      .value(p)
      .each(static_cast<double>(parts_of(p.keys, kAttentionGroup)) * kQueries * (p.depth + kAttentionGroup));
  return nullptr;
}

}  // namespace mote::backends::opencl
