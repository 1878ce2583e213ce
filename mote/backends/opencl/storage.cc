#include "mote/backends/opencl/storage.h"

#include <algorithm>
#include <cmath>

#include "mote/backends/opencl/families.h"
#include "mote/core/half.h"
#include "mote/ops/op_id.h"

namespace mote::backends::opencl {
namespace {

constexpr int64_t kAlignment = 256;

int64_t aligned(int64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }

// Whether rounding a constant to f16 is no more than storing a tensor there.
bool fits_half(const Operand& o) {
  const auto* v = static_cast<const float*>(o.data);
  const auto count = static_cast<size_t>(o.count());
  float largest = 0;
  for (size_t i = 0; i < count; ++i) largest = std::isfinite(v[i]) ? std::max(largest, std::fabs(v[i])) : largest;
  for (size_t i = 0; i < count; ++i)
    if (std::isfinite(v[i]) && !(std::fabs(static_cast<float>(f16(v[i])) - v[i]) <= std::max(std::fabs(v[i]), largest / 1024) / 2048))
      return false;
  return true;
}

bool is_computed(const Operand& o) { return o.present && o.data == nullptr && o.dtype == DType::f32; }

}  // namespace

bool reads_half(const OpView& op, const std::vector<uint8_t>& narrow) {
  bool any = false;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Operand& o = op.inputs[i];
    if (reads_float(op, i) || o.dtype != DType::f32 || (i == 1 && repacks_weights(op))) continue;
    if (o.data != nullptr && o.layout == Layout::kPlain && !fits_half(o)) return false;
    if (!is_computed(o)) continue;
    if (o.tensor < 0 || (narrow[static_cast<size_t>(o.tensor)] & kStoredNarrow) == 0) return false;
    any = true;
  }
  return any;
}

void Storage::begin() {
  if (narrow_.empty()) return;
  bool wide = false;
  for (const OpView& op : piece_.ops)
    for (const auto* list : {&op.inputs, &op.outputs})
      for (const Operand& o : *list) wide |= is_computed(o) && !is_narrow(o);
  if (wide) place_mixed();
  // Memory banks come before inputs and outputs.
  const size_t banks = piece_.buffer_bytes.size() - piece_.inputs.size() - piece_.outputs.size();
  for (size_t i = 1; i < banks; ++i) plan_.buffer_bytes[i] = wide ? 0 : (plan_.buffer_bytes[i] / 2 + 3) / 4 * 4;
  plan_.half_buffer = static_cast<int32_t>(plan_.buffer_bytes.size());
  plan_.buffer_bytes.push_back(0);
  for (size_t i = 0; i < plan_.inputs.size(); ++i)
    if ((narrow_[piece_.input_tensors[i]] & kStoredNarrow) != 0) plan_.inputs[i] = at_host(plan_.inputs[i], true);
}

void Storage::end() {
  if (narrow_.empty()) return;
  for (size_t i = 0; i < plan_.outputs.size(); ++i)
    if ((narrow_[piece_.output_tensors[i]] & kStoredNarrow) != 0) plan_.outputs[i] = at_host(plan_.outputs[i], false);
  plan_.buffer_bytes[static_cast<size_t>(plan_.half_buffer)] = (plan_.halves.size() * 2 + 3) / 4 * 4;
}

// The buffer the host sees of an input or output that is stored as f16.
int32_t Storage::at_host(int32_t stored, bool in) {
  uint64_t& bytes = plan_.buffer_bytes[static_cast<size_t>(stored)];
  const uint64_t plain_bytes = bytes;
  bytes = (bytes / 2 + 3) / 4 * 4;
  const auto plain = static_cast<int32_t>(plan_.buffer_bytes.size());
  plan_.buffer_bytes.push_back(plain_bytes);
  convert({in ? plain : stored, 0}, {in ? stored : plain, 0}, static_cast<int64_t>(plain_bytes / 4), in);
  return plain;
}

// Memory banks were planned for one width: where there are two, everything is placed anew in one buffer, in the first gap among what lives
// at the same time. Reshaped tensors stay where they are.
void Storage::place_mixed() {
  struct Life {
    size_t first = 0, last = 0;
    int64_t at = 0, bytes = 0;
  };
  const auto is_io = [&](int32_t buffer) {
    const auto has = [&](const std::vector<int32_t>& list) { return std::find(list.begin(), list.end(), buffer) != list.end(); };
    return has(piece_.inputs) || has(piece_.outputs);
  };
  const auto width = [&](const Operand& o) { return is_narrow(o) ? int64_t{2} : int64_t{4}; };
  std::map<int32_t, int32_t> same;  // tensor: the one whose place it has
  std::map<int32_t, Life> lives;
  const auto each = [&](auto f) {
    for (size_t i = 0; i < piece_.ops.size(); ++i)
      for (auto* list : {&piece_.ops[i].inputs, &piece_.ops[i].outputs})
        for (Operand& o : *list)
          if (is_computed(o) && !is_io(o.place.buffer)) f(piece_.ops[i], i, o);
  };
  each([&](const OpView& op, size_t i, const Operand& o) {
    if (same.count(o.tensor) == 0) {
      const Operand& x = op.inputs[0];
      const bool moved = op.op >= static_cast<uint16_t>(OpId::copy) && op.op <= static_cast<uint16_t>(OpId::reshape) && is_computed(x) &&
                         same.count(x.tensor) != 0 && width(x) == width(o);
      same[o.tensor] = moved ? same[x.tensor] : o.tensor;
    }
    lives.emplace(same[o.tensor], Life{i, i, 0, aligned(o.count() * width(o))}).first->second.last = i;
  });
  std::vector<Life*> placed, order;
  for (auto& [tensor, l] : lives) order.push_back(&l);
  std::stable_sort(order.begin(), order.end(), [](const Life* a, const Life* b) { return a->first < b->first; });
  int64_t most = 0;
  for (Life* l : order) {
    std::sort(placed.begin(), placed.end(), [](const Life* a, const Life* b) { return a->at < b->at; });
    for (const Life* p : placed)
      if (p->last >= l->first && p->at < l->at + l->bytes && l->at < p->at + p->bytes) l->at = p->at + p->bytes;
    placed.push_back(l);
    most = std::max(most, l->at + l->bytes);
  }
  const auto buffer = static_cast<int32_t>(plan_.buffer_bytes.size());
  plan_.buffer_bytes.push_back(static_cast<uint64_t>(most));
  each([&](const OpView&, size_t, Operand& o) { o.place = {buffer, static_cast<int32_t>(lives[same[o.tensor]].at / width(o))}; });
}

void Storage::convert(const Place& from, const Place& to, int64_t count, bool to_half) {
  recorder_.use_kernels(!to_half, to_half);
  recorder_.launch(OpView{}, "change_kind", {static_cast<size_t>(count)}, {64}).tensor(from).tensor(to).value(static_cast<int32_t>(count));
}

Place Storage::temporary(int64_t count) {
  if (temporaries_ < 0) {
    temporaries_ = static_cast<int32_t>(plan_.buffer_bytes.size());
    plan_.buffer_bytes.push_back(0);
  }
  const Place p{temporaries_, static_cast<int32_t>(temporary_words_)};
  temporary_words_ += aligned(count);
  uint64_t& bytes = plan_.buffer_bytes[static_cast<size_t>(temporaries_)];
  bytes = std::max(bytes, static_cast<uint64_t>(temporary_words_) * 4);
  return p;
}

void Storage::enter(OpView& op) {
  late_.clear();
  if (narrow_.empty()) return;
  temporary_words_ = 0;
  const bool in_half = reads_half(op, narrow_), out_half = !op.outputs.empty() && is_narrow(op.outputs[0]);
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    Operand& o = op.inputs[i];
    if (!is_computed(o) || !is_narrow(o) || (in_half && !reads_float(op, i))) continue;
    const Place copy = temporary(o.count());
    convert(o.place, copy, o.count(), false);
    o.place = copy;
  }
  for (Operand& o : op.outputs) {
    if (!o.present || is_narrow(o) == out_half) continue;
    const Place copy = temporary(o.count());
    late_.push_back({copy, o.place, o.count(), !out_half});
    o.place = copy;
  }
  const int32_t result = op.outputs.empty() ? -1 : op.outputs[0].tensor;
  recorder_.use_kernels(in_half, out_half, result >= 0 && (narrow_[static_cast<size_t>(result)] & kMultipliedNarrow) != 0);
}

void Storage::leave() {
  for (const Late& l : late_) convert(l.from, l.to, l.count, l.to_half);
}

}  // namespace mote::backends::opencl
