#include "mote/ops/testing/harness.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "mote/core/dispatch.h"
#include "mote/core/layout.h"
#include "mote/ops/op_docs.h"
#include "mote/ops/op_table.h"
#include "mote/ops/testing/ledger.h"
#include "mote/runtime/verify.h"

#if defined(__SANITIZE_ADDRESS__)
#define MOTE_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MOTE_HAS_ASAN 1
#endif
#endif
#if defined(MOTE_HAS_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace mote::optest {

KernelFn (*fast_kernels)(uint16_t op, const OpContext&) noexcept = nullptr;
void (*on_case)(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options,
                const std::vector<Array>& outputs) = nullptr;

namespace {

constexpr size_t kGuard = 64;
constexpr uint8_t kGuardByte = 0xa5, kOtherBlank = 0x3c;

// A tensor in memory with guard bytes around it and, on request, gaps between rows that hold guard bytes too.
class Buffer {
 public:
  // blank: what the bytes are before anything is written.
  void make(DType dtype, const Shape& shape, Layout layout, const std::vector<uint8_t>* packed, bool gaps, uint8_t blank = kGuardByte) {
    desc = TensorDesc{};
    desc.dtype = dtype;
    desc.rank = static_cast<uint8_t>(shape.size());
    desc.layout = layout;
    std::copy(shape.begin(), shape.end(), desc.dims);
    if (layout == Layout::kPlain) set_dense_strides(desc);
    bytes = packed != nullptr ? packed->size() : static_cast<size_t>((count_of(shape) * dtype_bits(dtype) + 7) / 8);
    if (gaps && layout == Layout::kPlain && shape.size() >= 2 && dtype_bits(dtype) >= 8) {
      const int32_t extra = static_cast<int32_t>(3 * dtype_bytes(dtype));
      int32_t stride = desc.strides[desc.rank - 1] * std::max(1, shape.back());
      for (int i = desc.rank - 2; i >= 0; --i) {
        stride += extra;
        desc.strides[i] = stride;
        stride *= std::max(1, shape[i]);
      }
      bytes = static_cast<size_t>(stride);
    }
    store.assign(bytes + 2 * kGuard, kGuardByte);
    // Keep element 0 at a 16-byte boundary, as the arena does.
    const auto at = reinterpret_cast<uintptr_t>(store.data() + kGuard);
    shift = (16 - at % 16) % 16;
    if (blank == kGuardByte) return;
    for_each_index(shape, [&](const Shape& i) { std::memset(data() + offset_of(i), blank, dtype_bytes(dtype)); });
  }
  // In the bytes of another tensor from now on.
  void lie_on(Buffer& other) { place = other.data(); }
  uint8_t* data() { return place != nullptr ? place : store.data() + kGuard + (shift > kGuard ? 0 : shift); }

  int32_t offset_of(const Shape& index) const {
    int32_t at = 0;
    for (size_t i = 0; i < index.size(); ++i) at += index[i] * desc.strides[i];
    return at;
  }
  void fill(const Array& a) {
    if (a.layout() != Layout::kPlain || dtype_bits(a.dtype()) < 8) {
      if (!a.bytes().empty()) std::memcpy(data(), a.bytes().data(), a.bytes().size());
      return;
    }
    const uint32_t width = dtype_bytes(a.dtype());
    int64_t flat = 0;
    if (is_dense(desc) && !a.bytes().empty()) {
      std::memcpy(data(), a.bytes().data(), a.bytes().size());
      return;
    }
    for_each_index(a.shape(), [&](const Shape& i) { std::memcpy(data() + offset_of(i), a.bytes().data() + flat++ * width, width); });
  }
  Array read() {
    Shape shape(desc.dims, desc.dims + desc.rank);
    Array a(desc.dtype, shape);
    const uint32_t width = dtype_bytes(desc.dtype);
    int64_t flat = 0;
    if (is_dense(desc) && !a.bytes().empty() && dtype_bits(desc.dtype) >= 8) {
      std::memcpy(a.bytes().data(), data(), a.bytes().size());
      std::memset(data(), kGuardByte, a.bytes().size());
      return a;
    }
    for_each_index(shape, [&](const Shape& i) {
      uint8_t* p = data() + offset_of(i);
      std::memcpy(a.bytes().data() + flat++ * width, p, width);
      std::memset(p, kGuardByte, width);
    });
    return a;
  }
  // With the address sanitizer, reading what lies behind the tensor is an error from now on, or no more.
  void close() {
#if defined(MOTE_HAS_ASAN)
    uint8_t* end = data() + bytes;
    __asan_poison_memory_region(end, static_cast<size_t>(store.data() + store.size() - end));
#endif
  }
  void open() {
#if defined(MOTE_HAS_ASAN)
    __asan_unpoison_memory_region(store.data(), store.size());
#endif
  }
  // After read(): every byte must be a guard byte, or the kernel wrote outside its output.
  bool untouched() const {
    return std::all_of(store.begin(), store.end(), [](uint8_t b) { return b == kGuardByte; });
  }

  TensorDesc desc{};
  std::vector<uint8_t> store;
  size_t shift = 0, bytes = 0;
  uint8_t* place = nullptr;
};

const OpDef* find_def(OpId op) {
  for (const OpDef& d : builtin_ops())
    if (d.id == static_cast<uint16_t>(op)) return &d;
  return nullptr;
}

bool same_bytes(const Array& a, const Array& b) { return a.shape() == b.shape() && a.bytes() == b.bytes(); }

// False of memory that an operator works in: what it holds afterwards means nothing.
bool has_meaning(const OpDef& def, int output) {
  const OpDoc* doc = find_op_doc(def.id);
  const std::string signature = doc != nullptr ? doc->info.signature_ : "";
  size_t at = signature.find("->");
  for (int i = 0; i < output && at != std::string::npos; ++i) at = signature.find(',', at + 1);
  return at == std::string::npos || signature.compare(at + (output == 0 ? 2 : 1), 5, " work") != 0;
}

struct Variant {
  bool gaps = false;            // rows lie apart
  int output = -1, input = -1;  // this output lies on this input
  uint32_t without = 0;         // outputs that are absent, as bits
  uint8_t blank = kGuardByte;   // what outputs hold before
  bool has(int o) const { return (without >> o & 1) == 0; }
};

RunResult execute(const OpDef& def, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options,
                  const Variant& variant) {
  const bool gaps = variant.gaps;
  RunResult result;
  std::vector<uint32_t> attr_words((attrs_bytes + 3) / 4 + 1);
  std::memcpy(attr_words.data(), attrs, attrs_bytes);
  std::vector<Buffer> buffers(inputs.size() + static_cast<size_t>(options.outputs));
  std::vector<Tensor> tensors(buffers.size());
  std::vector<int32_t> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i].present() ? static_cast<int32_t>(i) : -1);
    if (!inputs[i].present()) continue;
    buffers[i].make(inputs[i].dtype(), inputs[i].shape(), inputs[i].layout(),
                    inputs[i].layout() == Layout::kPlain ? nullptr : &inputs[i].bytes(), gaps);
    buffers[i].fill(inputs[i]);
    tensors[i] = {&buffers[i].desc, buffers[i].data()};
  }
  for (int o = 0; o < options.outputs; ++o) {
    const size_t at = inputs.size() + static_cast<size_t>(o);
    operands.push_back(variant.has(o) ? static_cast<int32_t>(at) : -1);
    tensors[at] = {&buffers[at].desc, nullptr};
  }
  OpContext c;
  c.tensors = tensors.data();
  c.operands = operands.data();
  c.attr_bytes = attr_words.data();
  c.input_count = static_cast<uint16_t>(inputs.size());
  c.output_count = static_cast<uint16_t>(options.outputs);
  c.rows = options.rows;

  std::vector<TensorType> types(static_cast<size_t>(options.outputs));
  result.status = def.infer(InferContext(c, types.data(), &result.diagnostic));
  if (!result.status.ok()) return result;
  std::vector<TensorDesc> bounds(tensors.size());
  for (int o = 0; o < options.outputs; ++o) {
    const size_t at = inputs.size() + static_cast<size_t>(o);
    const TensorType& t = types[static_cast<size_t>(o)];
    Shape shape(t.dims, t.dims + t.rank);
    uint8_t dynamic = 0;
    for (int k = 0; k < t.rank; ++k) {
      if (shape[static_cast<size_t>(k)] != kDimUnknown) continue;
      dynamic = static_cast<uint8_t>(dynamic | 1 << k);
      if (static_cast<size_t>(o) >= options.bounds.size() || options.bounds[static_cast<size_t>(o)].size() != t.rank) {
        ADD_FAILURE() << "output " << o << " has a size that depends on data: give RunOptions::bounds";
        result.status = Status::kInternal;
        return result;
      }
      shape[static_cast<size_t>(k)] = options.bounds[static_cast<size_t>(o)][static_cast<size_t>(k)];
    }
    buffers[at].make(t.dtype, shape, Layout::kPlain, nullptr, gaps && dynamic == 0, dynamic == 0 ? variant.blank : kGuardByte);
    buffers[at].desc.dynamic = dynamic;
    if (o == variant.output) buffers[at].lie_on(buffers[static_cast<size_t>(variant.input)]);
    tensors[at].data = buffers[at].data();
  }
  for (size_t i = 0; i < tensors.size(); ++i) bounds[i] = buffers[i].desc;
  c.bounds = bounds.data();
  Scratch scratch;
  if (def.scratch != nullptr) scratch = def.scratch(c);
  std::vector<uint8_t> scratch_bytes(scratch.base + scratch.per_thread + 2 * kGuard, kGuardByte);
  uint8_t* scratch_at = scratch_bytes.data() + 16;
  scratch_at += (16 - reinterpret_cast<uintptr_t>(scratch_at) % 16) % 16;
  c.scratch = {scratch_at, scratch.base + scratch.per_thread};

  const KernelFn kernel = dispatch(def, fast_kernels, c);
  if (kernel == nullptr) {
    result.status = {Status::kUnsupported, Why::kKernelMissing};
    return result;
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].present()) buffers[i].close();
  result.status = kernel(c);
  for (size_t i = 0; i < inputs.size(); ++i) buffers[i].open();
  const uint8_t* scratch_end = scratch_at + c.scratch.size;
  EXPECT_TRUE(std::all_of(scratch_end, const_cast<const uint8_t*>(scratch_bytes.data() + scratch_bytes.size()),
                          [](uint8_t b) { return b == kGuardByte; }))
      << def.name << " wrote past its scratch memory";
  if (!result.status.ok()) return result;
  for (int o = 0; o < options.outputs; ++o) {
    const size_t at = inputs.size() + static_cast<size_t>(o);
    if (!variant.has(o)) {
      EXPECT_TRUE(buffers[at].untouched()) << def.name << " wrote to output " << o << ", which is absent";
      result.outputs.emplace_back();
      continue;
    }
    result.outputs.push_back(buffers[at].read());
    if (!has_meaning(def, o)) result.outputs.back() = Array(types[static_cast<size_t>(o)].dtype, result.outputs.back().shape());
    EXPECT_TRUE(options.rows.all() ? buffers[at].untouched() : true)
        << def.name << " wrote outside its output " << o << (gaps ? " (with gaps)" : "");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (static_cast<int>(i) == variant.input) continue;
    if (!inputs[i].present() || inputs[i].layout() != Layout::kPlain || dtype_bits(inputs[i].dtype()) < 8) continue;
    if ((def.flags & kStateUpdate) != 0 && i == 0) continue;
    EXPECT_TRUE(same_bytes(buffers[i].read(), inputs[i])) << def.name << " changed its input " << i;
  }
  return result;
}

// Each optional output is left out, alone and with all the others; those that stay must not change.
void check_absent_outputs(const OpDef& def, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs,
                          const RunOptions& options, const RunResult& all) {
  uint32_t optional = 0;
  for (int o = 0; o < options.outputs; ++o)
    if ((def.optional_out & operand_bit(static_cast<uint32_t>(o))) != 0) optional |= 1u << o;
  for (int o = 0; options.outputs > 1 && o < options.outputs; ++o) {
    for (uint32_t without : {optional & 1u << o, optional & ~(1u << o)}) {
      if (without == 0) continue;
      Variant variant;
      variant.without = without;
      const RunResult some = execute(def, attrs, attrs_bytes, inputs, options, variant);
      EXPECT_TRUE(some.ok()) << def.name << " fails when an optional output is absent: " << some.message();
      for (int k = 0; some.ok() && k < options.outputs; ++k)
        EXPECT_TRUE(!variant.has(k) || same_bytes(all.outputs[static_cast<size_t>(k)], some.outputs[static_cast<size_t>(k)]))
            << def.name << ": output " << k << " differs when others are absent";
    }
  }
}

// The descriptors that execute() gives tensors that lie dense.
TensorDesc dense_desc(const Array& a) {
  TensorDesc d{};
  d.dtype = a.dtype();
  d.rank = static_cast<uint8_t>(a.shape().size());
  d.layout = a.layout();
  std::copy(a.shape().begin(), a.shape().end(), d.dims);
  if (d.layout == Layout::kPlain) set_dense_strides(d);
  return d;
}

// The rows that were asked for, element by element: the others keep what the input had.
bool same_rows(const Array& a, const Array& b, Rows rows) {
  if (rows.all()) return same_bytes(a, b);
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  const uint32_t width = dtype_bytes(a.dtype());
  bool same = true;
  size_t at = 0;
  for_each_index(a.shape(), [&](const Shape& i) {
    const bool inside = i.size() > 1 && i[1] >= rows.begin && i[1] < rows.end;
    same = same && (!inside || std::memcmp(a.bytes().data() + at, b.bytes().data() + at, width) == 0);
    at += width;
  });
  return same;
}

// Every output over every input that a verified program may place it on.
void check_in_place(const OpDef& def, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options,
                    const RunResult& apart) {
  bool first_on_first = false;
  for (int o = 0; o < options.outputs; ++o) {
    const Array& y = apart.outputs[static_cast<size_t>(o)];
    if (static_cast<size_t>(o) < options.bounds.size()) continue;  // may have become smaller
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool asked = options.in_place && o == 0 && i == 0;
      const bool may = inputs[i].present() && inputs[i].layout() == Layout::kPlain && dtype_bits(inputs[i].dtype()) >= 8 &&
                       may_share(def, static_cast<uint32_t>(o), static_cast<uint32_t>(i), dense_desc(y), dense_desc(inputs[i]));
      if (!may && !asked) continue;
      first_on_first |= o == 0 && i == 0;
      Variant variant;
      variant.output = o, variant.input = static_cast<int>(i);
      const RunResult over = execute(def, attrs, attrs_bytes, inputs, options, variant);
      EXPECT_TRUE(over.ok()) << def.name << " fails with output " << o << " in place of input " << i << ": " << over.message();
      EXPECT_TRUE(!over.ok() || same_rows(y, over.outputs[static_cast<size_t>(o)], options.rows))
          << def.name << ": output " << o << " differs in place of input " << i;
    }
  }
  EXPECT_TRUE(first_on_first || !options.in_place) << def.name << " was to run in place";
}

// One set of operands, some of which have no elements: refused, or every element of the outputs is written, the same wherever they lie.
void check_one_empty(const OpDef& def, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options) {
  std::string shapes;
  for (const Array& a : inputs) shapes += a.present() ? ::testing::PrintToString(a.shape()) : "-";
  SCOPED_TRACE("operands without elements: " + shapes);
  const RunResult dense = execute(def, attrs, attrs_bytes, inputs, options, {});
  if (!dense.ok()) return;
  Variant apart;
  apart.gaps = true, apart.blank = kOtherBlank;
  const RunResult gaps = execute(def, attrs, attrs_bytes, inputs, options, apart);
  ASSERT_TRUE(gaps.ok()) << def.name << " fails on tensors with gaps between rows: " << gaps.message();
  for (size_t o = 0; o < dense.outputs.size(); ++o)
    EXPECT_TRUE(same_bytes(dense.outputs[o], gaps.outputs[o])) << def.name << ": output " << o << " is not written, or depends on gaps";
  check_in_place(def, attrs, attrs_bytes, inputs, options, dense);
}

// The operands with no elements along each size that they have: wherever it occurs, and in each operand alone. Of the first cases of each
// operator: later ones differ in values and types.
void check_empty(const OpDef& def, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, RunOptions options) {
  constexpr int kCases = 60;
  static std::map<uint16_t, int> tried;
  if (!options.rows.all() || ++tried[def.id] > kCases) return;
  options.in_place = false;
  std::set<int32_t> sizes;
  for (const Array& a : inputs)
    if (a.present()) sizes.insert(a.shape().begin(), a.shape().end());
  sizes.erase(0);
  const int alone = static_cast<int>(inputs.size());
  for (const int32_t size : sizes) {
    for (int only = -1; only < alone; ++only) {
      std::vector<Array> changed = inputs;
      bool any = false;
      for (int i = 0; i < alone; ++i) {
        const Array& a = inputs[static_cast<size_t>(i)];
        Shape shape = a.shape();
        std::replace(shape.begin(), shape.end(), size, 0);
        if (!a.present() || shape == a.shape() || (only >= 0 && only != i)) continue;
        const Array empty(a.dtype(), shape);
        changed[static_cast<size_t>(i)] = a.layout() == Layout::kPlain ? empty : empty.packed(a.layout());
        any = true;
      }
      if (any) check_one_empty(def, attrs, attrs_bytes, changed, options);
    }
  }
}

}  // namespace

std::string RunResult::message() const {
  return std::string(status_text(status.code())) + ": " + why_text(status.why()) + " (expected " + std::to_string(diagnostic.expected) +
         ", found " + std::to_string(diagnostic.found) + ")";
}

RunResult run_bytes(OpId op, const void* attrs, size_t attrs_bytes, const std::vector<Array>& inputs, const RunOptions& options) {
  const OpDef* def = find_def(op);
  if (def == nullptr) {
    ADD_FAILURE() << "operator " << static_cast<int>(op) << " is not in this build";
    return {Status::kUnsupported, {}, {}};
  }
  RunResult dense = execute(*def, attrs, attrs_bytes, inputs, options, {});
  if (!dense.ok()) return dense;
  ledger_add(op, attrs, attrs_bytes, inputs, dense.outputs);
  if (on_case != nullptr) on_case(op, attrs, attrs_bytes, inputs, options, dense.outputs);
  Variant apart;
  apart.gaps = true;
  if (options.rows.all()) apart.blank = kOtherBlank;
  const RunResult gaps = execute(*def, attrs, attrs_bytes, inputs, options, apart);
  EXPECT_TRUE(gaps.ok()) << def->name << " fails on tensors with gaps between rows: " << gaps.message();
  for (size_t o = 0; gaps.ok() && o < dense.outputs.size(); ++o)
    EXPECT_TRUE(same_bytes(dense.outputs[o], gaps.outputs[o])) << def->name << ": output " << o << " differs when rows lie apart";
  check_absent_outputs(*def, attrs, attrs_bytes, inputs, options, dense);
  check_in_place(*def, attrs, attrs_bytes, inputs, options, dense);
  check_empty(*def, attrs, attrs_bytes, inputs, options);
  return dense;
}

Status infer_bytes(OpId op, const void* attrs, const std::vector<Array>& inputs, const std::vector<size_t>& hidden,
                   std::vector<TensorType>* outputs) {
  std::vector<TensorDesc> descs(inputs.size());
  std::vector<Tensor> tensors(inputs.size());
  std::vector<int32_t> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    operands.push_back(inputs[i].present() ? static_cast<int32_t>(i) : -1);
    descs[i].dtype = inputs[i].dtype();
    descs[i].layout = inputs[i].layout();
    descs[i].rank = static_cast<uint8_t>(inputs[i].shape().size());
    std::copy(inputs[i].shape().begin(), inputs[i].shape().end(), descs[i].dims);
    if (descs[i].layout == Layout::kPlain) set_dense_strides(descs[i]);
    tensors[i] = {&descs[i], const_cast<uint8_t*>(inputs[i].bytes().data())};
  }
  for (size_t i : hidden) tensors[i].data = nullptr;
  operands.resize(inputs.size() + outputs->size(), -1);
  OpContext c;
  c.tensors = tensors.data();
  c.operands = operands.data();
  c.attr_bytes = attrs;
  c.input_count = static_cast<uint16_t>(inputs.size());
  c.output_count = static_cast<uint16_t>(outputs->size());
  const OpDef* def = find_def(op);
  return def != nullptr ? def->infer(InferContext(c, outputs->data(), nullptr)) : Status(Status::kUnsupported);
}

double tolerance_of(DType type) {
  switch (type) {
    case DType::f32: return 5e-7;
    case DType::f64: return 1e-14;
    case DType::f16: return 1.0 / 1024;
    case DType::bf16: return 1.0 / 128;
    default: return 0;
  }
}

bool close(double a, double b, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b));
}

void expect_values(const Array& actual, const std::vector<double>& expected, double tolerance) {
  if (tolerance < 0) tolerance = tolerance_of(actual.dtype());
  ASSERT_EQ(actual.count(), static_cast<int64_t>(expected.size()));
  for (int64_t i = 0; i < actual.count(); ++i)
    EXPECT_TRUE(close(actual.get(i), expected[static_cast<size_t>(i)], tolerance))
        << "element " << i << ": expected " << expected[static_cast<size_t>(i)] << ", found " << actual.get(i);
}

void expect_shape(const Array& actual, const Shape& shape) { EXPECT_EQ(actual.shape(), shape); }

void expect_oracle(const Array& actual, const std::function<double(const Shape&)>& oracle, double scale) {
  const double tolerance = tolerance_of(actual.dtype()) * scale;
  int reported = 0;
  for_each_index(actual.shape(), [&](const Shape& index) {
    Array rounded(actual.dtype(), {1});
    const double exact = oracle(index);
    if (tolerance > 0) rounded.set(0, exact);
    const double expected = tolerance > 0 ? rounded.get(0) : exact;
    const double found = actual.at(index);
    if (close(found, expected, tolerance) || reported++ > 3) return;
    ADD_FAILURE() << dtype_name(actual.dtype()) << " element " << ::testing::PrintToString(index) << ": expected " << expected << ", found "
                  << found;
  });
}

}  // namespace mote::optest
