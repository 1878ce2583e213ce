#include "mote/compiler/driver/kernel_check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <set>
#include <tuple>

#include "mote/compiler/program/cost.h"
#include "mote/format/reader.h"
#include "mote/ops/op_docs.h"

namespace mote::driver {
namespace {

constexpr uint64_t kStepsPerElement = 4;  // what an element costs beside multiply-adds

thread_local KernelCheck* active = nullptr;

// Two threads that alternate, the last part first: where two parts write the same bytes, the result differs from running in order.
void in_turns(void*, uint32_t count, void (*body)(void*, uint32_t, uint32_t), void* context) {
  for (uint32_t i = count; i-- > 0;) body(context, i, i % 2);
}
constexpr Threads kTwo = {nullptr, 2, &in_turns};

// The elements, dense; of a ring of rows those that lie in it. Nothing for packed tensors and absent data.
Array gather(const Tensor& t) {
  const TensorDesc& d = *t.desc;
  Array a{d.dtype, {d.dims, d.dims + d.rank}, {}};
  const uint64_t bytes = dense_bytes(a.dtype, a.dims);
  if (t.data == nullptr || d.layout != Layout::kPlain || bytes == 0) return a;
  const auto* from = static_cast<const uint8_t*>(t.data);
  int outer = d.rank;  // dimensions in front of those that lie together
  uint64_t run = dtype_bytes(d.dtype);
  while (run > 0 && outer > 0 && (d.ring_rows == 0 || outer > 2) && static_cast<uint64_t>(d.strides[outer - 1]) == run)
    run *= static_cast<uint32_t>(d.dims[--outer]);
  if (run == 0) outer = 0, run = bytes;  // less than a byte an element: always dense
  a.data.reserve(bytes);
  std::vector<int32_t> at(static_cast<size_t>(outer), 0);
  for (uint64_t left = bytes / run; left > 0; --left) {
    int64_t offset = 0;
    for (size_t i = 0; i < at.size(); ++i) offset += int64_t{i == 1 && d.ring_rows != 0 ? at[i] % d.ring_rows : at[i]} * d.strides[i];
    a.data.insert(a.data.end(), from + offset, from + offset + run);
    for (size_t i = at.size(); i-- > 0 && ++at[i] == d.dims[i];) at[i] = 0;
  }
  return a;
}

double largest_of(const Array& a) {
  double most = 0;
  for (const double v : to_doubles(a))
    if (std::isfinite(v)) most = std::max(most, std::fabs(v));
  return most;
}

std::string op_name(uint16_t op) {
  const OpDoc* doc = op < kFirstCustomOp ? find_op_doc(op) : nullptr;
  return doc != nullptr ? doc->name : "operator " + std::to_string(op);
}

// What makes two instructions alike: operator, attributes, types and sizes.
std::string signature(const ProgramTable& t, const Instruction& n) {
  std::string s(reinterpret_cast<const char*>(&n.op), sizeof n.op);
  s.append(reinterpret_cast<const char*>(t.attrs.data) + n.attrs, n.attrs_size);
  for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
    const int32_t at = t.operands[n.operands + i];
    if (at < 0) s += '-';
    if (at < 0) continue;
    const TensorDesc& d = t.tensors[static_cast<size_t>(at)];
    s += static_cast<char>(d.dtype);
    s += static_cast<char>(d.layout);
    s.append(reinterpret_cast<const char*>(d.dims), sizeof d.dims[0] * d.rank);
    s += '/';
  }
  return s;
}

}  // namespace

std::string KernelDifference::text() const {
  char numbers[96] = "another type or size";
  if (difference.same_type)
    std::snprintf(numbers, sizeof numbers, "largest error %.3g of %.3g, allowed %.3g", difference.largest_error,
                  difference.largest_expected, allowed);
  return op + (node.empty() ? "" : " '" + node + "'") + ", output " + std::to_string(output) +
         (between_parts ? ": in parts, as threads share the work, the fast kernel gives other bits than at once ("
                        : ": the fast kernel differs from the portable one (") +
         numbers + ")";
}

KernelCheck::Active::Active(KernelCheck* check) : before_(active) { active = check; }
KernelCheck::Active::~Active() { active = before_; }

void KernelCheck::attach(const Program& program, const OpRegistry& ops) {
  program_ = &program;
  ops_ = &ops;
  entries_.clear();
  const ProgramTable& t = program.table();
  for (uint32_t i = 0; i < t.instructions.size; ++i) {
    Entry e;
    e.instruction = i;
    e.wanted = work_ == 0;
    entries_.emplace(t.operands.data + t.instructions[i].operands, e);
  }
  if (work_ > 0) choose();
}

// The cheapest of each operator first, so that each is looked at once; then whatever the work allows.
void KernelCheck::choose() {
  struct Choice {
    bool again;
    uint64_t work;
    Entry* entry;
  };
  const ProgramTable& t = program_->table();
  const program::CostSource source(t);
  std::set<std::string> alike;
  std::vector<Choice> choices;
  for (auto& [operands, e] : entries_) {
    const Instruction& n = t.instructions[e.instruction];
    if (n.op >= kFirstCustomOp || !alike.insert(signature(t, n)).second) continue;
    const program::Cost cost = program::cost_of(source, n);
    choices.push_back({false, cost.macs + kStepsPerElement * (cost.read_bytes + cost.written_bytes) / 4, &e});
  }
  const auto by_work = [](const Choice& a, const Choice& b) {
    return std::make_tuple(a.again, a.work, a.entry->instruction) < std::make_tuple(b.again, b.work, b.entry->instruction);
  };
  std::sort(choices.begin(), choices.end(), by_work);
  std::set<std::pair<uint16_t, uint8_t>> seen;  // operator and type
  for (Choice& c : choices) {
    const Instruction& n = t.instructions[c.entry->instruction];
    const int32_t first = n.input_count > 0 ? t.operands[n.operands] : -1;
    const auto type = static_cast<uint8_t>(first >= 0 ? t.tensors[static_cast<size_t>(first)].dtype : DType::kNone);
    c.again = !seen.insert({n.op, type}).second;
  }
  std::sort(choices.begin(), choices.end(), by_work);
  uint64_t left = work_;
  for (const Choice& c : choices) {
    if (c.work > left) continue;
    left -= c.work;
    c.entry->wanted = true;
  }
}

KernelFn KernelCheck::select(uint16_t op, const OpContext& c) noexcept {
  if (active == nullptr) return nullptr;
  const KernelFn fast = active->select_(op, c);
  const auto it = active->entries_.find(c.operands);
  if (fast == nullptr || it == active->entries_.end() || !it->second.wanted) return fast;
  if (active->program_->table().instructions[it->second.instruction].op != op) return fast;
  it->second.fast = fast;
  return &KernelCheck::compare_kernels;
}

Status KernelCheck::compare_kernels(const OpContext& c) noexcept {
  const auto it = active != nullptr ? active->entries_.find(c.operands) : std::map<const int32_t*, Entry>::iterator{};
  if (active == nullptr || it == active->entries_.end()) return {Status::kInternal, Why::kKernelMissing};
  return active->compare(it->second, c);
}

// Bytes that the instruction may write or overwrite, as they are before it.
struct KernelCheck::Saved {
  explicit Saved(const OpContext& c) {
    for (int i = 0; i < c.input_count + c.output_count; ++i) {
      const int32_t t = c.operands[i];
      if (t < 0) continue;
      const TensorDesc& bound = c.bounds[t];
      if (c.tensors[t].data == nullptr || bound.storage == Storage::kConstant || bound.storage == Storage::kInput) continue;
      auto* data = static_cast<uint8_t*>(c.tensors[t].data);
      parts.push_back({data, {data, data + extent_bytes(bound)}});
    }
  }
  void restore() const {
    for (const auto& [to, bytes] : parts)
      if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  }
  std::vector<std::pair<uint8_t*, std::vector<uint8_t>>> parts;
};

Status KernelCheck::compare(Entry& e, const OpContext& c) {
  if (e.compared && work_ > 0 && c.rows.all()) return e.fast(c);  // of a strip every part is looked at
  const Instruction& n = program_->table().instructions[e.instruction];
  const OpDef* def = ops_->find(n.op, nullptr);
  if (def == nullptr) return e.fast(c);
  const auto outputs = [&] {
    std::vector<Array> all;
    for (int i = 0; i < c.output_count; ++i) all.push_back(c.has_output(i) ? gather(c.output(i)) : Array{});
    return all;
  };
  double factor = 1;  // of the largest elements of what goes in
  for (int i = 0; i < c.input_count; ++i)
    if (c.has_input(i) && is_float(c.input(i).desc->dtype)) factor *= std::max(1.0, largest_of(gather(c.input(i))));
  const Saved before(c);
  OpContext one = c;
  one.threads = nullptr;
  MOTE_TRY(e.fast(one));
  const std::vector<Array> fast = outputs();
  const Saved after(c);
  before.restore();
  OpContext two = c;
  two.threads = &kTwo;
  MOTE_TRY(e.fast(two));
  const std::vector<Array> parts = outputs();
  before.restore();
  const KernelFn portable = def->select(one);
  if (portable != nullptr && portable(one).ok()) {
    const std::vector<Array> expected = outputs();
    for (size_t o = 0; o < expected.size(); ++o) {
      if (o > 0 && !is_read(c.operands[c.input_count + static_cast<int>(o)])) continue;  // working memory
      const double largest = largest_of(expected[o]);
      const DType type = expected[o].dtype;
      const bool half = type == DType::f16 || type == DType::bf16;
      // Integers that come of floats may be one off where the operator does not promise the same bits.
      const double allowed = is_float(type) ? (half ? kKernelHalfTolerance : kKernelTolerance) * largest + kKernelCancelled * factor
                             : (def->flags & kIntegerExact) != 0 ? 0
                                                                 : 1;
      judge(e, static_cast<uint32_t>(o), fast[o], expected[o], false, allowed);
      judge(e, static_cast<uint32_t>(o), parts[o], fast[o], true, 0);
    }
    compared_ += e.compared ? 0 : 1;
    e.compared = true;
  }
  after.restore();
  return Status::kOk;
}

bool KernelCheck::is_read(int32_t tensor) const {
  const ProgramTable& t = program_->table();
  const auto reads = [&](const Instruction& n) {
    const int32_t* first = t.operands.data + n.operands;
    return std::find(first, first + n.input_count, tensor) != first + n.input_count;
  };
  const auto is = [&](const Io& io) { return static_cast<int32_t>(io.tensor) == tensor; };
  return std::any_of(t.instructions.begin(), t.instructions.end(), reads) || std::any_of(t.ios.begin(), t.ios.end(), is);
}

void KernelCheck::judge(const Entry& e, uint32_t output, const Array& found, const Array& expected, bool parts, double allowed) {
  if (found.dtype == expected.dtype && found.dims == expected.dims && found.data == expected.data) return;
  const Difference d = difference(found, expected);
  if (d.same_type && !d.specials_differ && d.largest_error <= allowed) return;
  const bool known = std::any_of(differences_.begin(), differences_.end(),
                                 [&](const KernelDifference& k) { return k.instruction == e.instruction && k.between_parts == parts; });
  if (known) return;
  const ProgramTable& t = program_->table();
  const std::string node = e.instruction < t.source_names.size ? t.string(t.source_names[e.instruction]) : "";
  differences_.push_back({e.instruction, output, op_name(t.instructions[e.instruction].op), node, parts, d, allowed});
}

}  // namespace mote::driver
