#include "mote/format/reader.h"

#include "mote/core/layout.h"
#include "mote/format/table_fb.h"

namespace mote {
namespace {

// Records what was wrong and where; every check below ends in one of these when it fails.
class Checker {
 public:
  Checker(ProgramTable& table, uint64_t file_size, Diagnostic* diagnostic) : t_(table), file_size_(file_size), diagnostic_(diagnostic) {}

  Status run() noexcept {
    MOTE_TRY(strings());
    MOTE_TRY(version());
    if (t_.certificate == nullptr) return corrupt(Why::kCertificateMissing);
    MOTE_TRY(storage());
    for (uint32_t i = 0; i < t_.tensors.size; ++i) MOTE_TRY(tensor(i));
    MOTE_TRY(code());
    MOTE_TRY(methods());
    return records();
  }

 private:
  Status fail(Status status, int32_t expected, int32_t found) noexcept {
    if (diagnostic_ != nullptr) {
      diagnostic_->status = status;
      diagnostic_->expected = expected;
      diagnostic_->found = found;
      diagnostic_->tensor = tensor_;
      diagnostic_->instruction = instruction_;
    }
    return status;
  }
  Status corrupt(Why why, int32_t expected = 0, int32_t found = 0) noexcept { return fail({Status::kCorrupt, why}, expected, found); }
  static bool in_range(uint64_t first, uint64_t count, uint64_t size) noexcept { return first <= size && count <= size - first; }
  bool is_string(uint32_t s) const noexcept { return s < t_.strings.size; }
  static bool is_alignment(uint32_t a) noexcept { return a >= 16 && (a & (a - 1)) == 0 && a <= 1u << 24; }

  Status strings() noexcept {
    const ConstBytes s = t_.strings;
    if (s.empty() || s[0] != 0 || s[s.size - 1] != 0) return corrupt(Why::kStrings);
    bool good = is_string(t_.policy);
    for (const uint32_t n : t_.source_names) good &= is_string(n);
    for (const uint32_t n : t_.requires_) good &= is_string(n);
    for (const OpName& n : t_.op_names) good &= is_string(n.name);
    for (const Pair& p : t_.metadata) good &= is_string(p.key) && is_string(p.value);
    for (const Pair& p : t_.evidence) good &= is_string(p.key) && is_string(p.value);
    return good ? Status(Status::kOk) : corrupt(Why::kStrings);
  }

  // A newer minor version is read as long as it requires nothing unknown; this reader knows no optional features yet.
  Status version() noexcept {
    if (t_.major > kFormatMajor) return fail({Status::kVersion, Why::kNewerMajor}, kFormatMajor, t_.major);
    if (!t_.requires_.empty()) {
      if (diagnostic_ != nullptr) diagnostic_->name = t_.string(t_.requires_[0]);
      return fail({Status::kVersion, Why::kUnknownFeature}, kFormatMinor, t_.minor);
    }
    return Status::kOk;
  }

  Status storage() noexcept {
    for (const Segment& s : t_.segments) {
      const bool outside = (s.flags & kExternal) != 0;
      if (s.kind > SegmentKind::kSignature || (s.flags & ~kExternal) != 0 || s.reserved != 0) return corrupt(Why::kReserved);
      if (!is_alignment(s.alignment) || (s.offset & (s.alignment - 1)) != 0) return corrupt(Why::kSegmentRange, s.alignment, clamp32(s.offset));
      if (!outside && !in_range(s.offset, s.size, file_size_))
        return corrupt(Why::kSegmentRange, clamp32(s.offset + s.size), clamp32(file_size_));
    }
    for (const Bank& b : t_.banks)
      if (!is_alignment(b.alignment) || !is_string(b.name) || b.size > 0xffffffffu) return corrupt(Why::kBankRange);
    return Status::kOk;
  }

  // Multiplies within the limit of a tensor's size; false beyond it.
  static bool grow(uint32_t& size, uint32_t factor) noexcept {
    const uint64_t product = uint64_t{size} * factor;
    size = static_cast<uint32_t>(product);
    return product <= kMaxTensorBytes;
  }

  // Sizes, strides and layout: an extent below 2^31 bytes, rows that do not overlap.
  Status shape(const TensorDesc& d) noexcept {
    const uint32_t bits = dtype_bits(d.dtype), width = bits / 8;
    const bool plain = d.layout == Layout::kPlain;
    if (bits == 0 || d.layout > Layout::kPanel16k8 || d.storage > Storage::kOutput) return corrupt(Why::kTensorType);
    if (d.rank > kMaxRank) return corrupt(Why::kTensorShape, kMaxRank, d.rank);
    if (d.ring_rows != 0 && (d.rank < 3 || !plain || d.storage != Storage::kArena || d.dynamic != 0)) return corrupt(Why::kRing);
    uint32_t stride = width, count = 1;  // of everything inside dimension i, gaps included
    bool sound = true;
    for (int i = kMaxRank; i-- > 0;) {
      const uint32_t size = static_cast<uint32_t>(d.dims[i]), own = static_cast<uint32_t>(d.strides[i]);
      if (i >= d.rank) {
        sound &= (size | own) == 0;
        continue;
      }
      if (!plain) sound &= own == 0;
      else if (i == d.rank - 1 || width == 0) sound &= own == width;
      else if (size > 1) sound &= own >= stride && own % width == 0;
      if (plain && own > stride) stride = own;
      sound &= grow(stride, i == 1 && d.ring_rows != 0 ? d.ring_rows : size > 0 ? size : 1) && grow(count, size > 0 ? size : 1);
      if (!sound) return corrupt(Why::kTensorShape, i, d.dims[i]);
    }
    if (!sound) return corrupt(Why::kTensorShape, 0, d.rank);
    if (!plain) {
      const uint32_t n = d.dims[0] > 0 ? static_cast<uint32_t>(d.dims[0]) : 1;
      const bool fits = (panel_shape(d.layout, d.dtype).types & mask_of(d.dtype)) != 0 && d.rank >= 2 && d.storage == Storage::kConstant;
      if (!fits || panel_bytes(d.layout, d.dtype, n, count / n) > kMaxTensorBytes) return corrupt(Why::kTensorType);
    }
    if (d.dynamic >> d.rank != 0 || (d.dynamic != 0 && (d.storage == Storage::kConstant || width == 0 || !is_dense(d)))) return corrupt(Why::kDynamic);
    return Status::kOk;
  }

  Status tensor(uint32_t i) noexcept {
    tensor_ = static_cast<int32_t>(i);
    const TensorDesc& d = t_.tensors[i];
    MOTE_TRY(shape(d));
    const uint32_t extent = extent_bytes(d);
    const uint32_t width = dtype_bits(d.dtype) >= 8 ? dtype_bytes(d.dtype) : 1;
    uint64_t room;
    if (d.storage == Storage::kInput || d.storage == Storage::kOutput) {
      if (d.bank != 0 || d.offset >= t_.ios.size || t_.ios[d.offset].tensor != i) return corrupt(Why::kIoTensor);
      tensor_ = -1;
      return Status::kOk;
    }
    if (d.storage == Storage::kConstant) {
      if (d.bank >= t_.segments.size || t_.segments[d.bank].kind != SegmentKind::kConstants) return corrupt(Why::kBankRange);
      room = t_.segments[d.bank].size;
    } else {
      if (d.bank >= t_.banks.size) return corrupt(Why::kBankRange, clamp32(t_.banks.size), d.bank);
      room = t_.banks[d.bank].size;
    }
    if (d.offset % width != 0 || !in_range(d.offset, extent, room))
      return corrupt(Why::kTensorRange, clamp32(d.offset + extent), clamp32(room));
    tensor_ = -1;
    return Status::kOk;
  }

  Status code() noexcept {
    for (const int32_t o : t_.operands)
      if (o < -1 || o >= clamp32(t_.tensors.size)) return corrupt(Why::kOperandIndex, clamp32(t_.tensors.size), o);
    for (uint32_t i = 0; i < t_.instructions.size; ++i) {
      const Instruction& n = t_.instructions[i];
      instruction_ = static_cast<int32_t>(i);
      if (!in_range(n.operands, uint32_t{n.input_count} + n.output_count, t_.operands.size) || n.output_count > 255) return corrupt(Why::kOperandRange);
      if (n.attrs % 4 != 0 || !in_range(n.attrs, n.attrs_size, t_.attrs.size)) return corrupt(Why::kAttrRange);
    }
    instruction_ = -1;
    if (!t_.source_names.empty() && t_.source_names.size != t_.instructions.size) return corrupt(Why::kStrings);
    return Status::kOk;
  }

  // Methods lie one after the other and together hold every instruction; so do their inputs and outputs in ios.
  Status methods() noexcept {
    uint64_t next = 0, next_io = 0;
    for (const Method& m : t_.methods) {
      if (!is_string(m.name) || m.first_instruction != next || m.first_input != next_io || m.first_output != next_io + m.input_count) return corrupt(Why::kMethodRange);
      next += m.instruction_count;
      next_io += uint64_t{m.input_count} + m.output_count;
      if (next > t_.instructions.size || next_io > t_.ios.size) return corrupt(Why::kMethodRange);
      for (uint32_t k = m.first_input; k < next_io; ++k) {
        const Io& io = t_.ios[k];
        if (!is_string(io.name) || io.tensor >= t_.tensors.size) return corrupt(Why::kIoTensor);
        const TensorDesc& d = t_.tensors[io.tensor];
        const bool is_input = k < m.first_output;
        const bool outside = d.storage == Storage::kInput || d.storage == Storage::kOutput;
        if (d.storage == (is_input ? Storage::kOutput : Storage::kInput) || (outside && d.offset != k) || (is_input && d.storage == Storage::kConstant) || d.ring_rows != 0)
          return corrupt(Why::kIoTensor);
      }
    }
    return next == t_.instructions.size && next_io == t_.ios.size ? Status(Status::kOk) : corrupt(Why::kMethodRange);
  }

  Status records() noexcept {
    for (const State& s : t_.states) {
      if (s.tensor >= t_.tensors.size || t_.tensors[s.tensor].storage != Storage::kState || t_.tensors[s.tensor].dynamic != 0 || s.init < -1 ||
          s.init >= clamp32(t_.tensors.size))
        return corrupt(Why::kStateRecord);
      if (s.init < 0) continue;
      const TensorDesc &a = t_.tensors[s.tensor], &b = t_.tensors[static_cast<uint32_t>(s.init)];
      if (b.storage != Storage::kConstant || a.dtype != b.dtype || !same_shape(a, b) || !is_dense(a) || !is_dense(b)) return corrupt(Why::kStateRecord);
    }
    for (const BackendRecord& b : t_.backends)
      if (!is_string(b.name) || !is_string(b.version) || !is_string(b.capabilities) || b.segment >= t_.segments.size) return corrupt(Why::kBackendIndex);
    for (const Placement& p : t_.placements)
      if (!is_string(p.backend) || !in_range(p.first_instruction, p.instruction_count, t_.instructions.size)) return corrupt(Why::kPlacementRecord);
    for (const Quant& q : t_.quants)
      if (q.tensor >= t_.tensors.size) return corrupt(Why::kQuantRecord);
    for (const Golden& g : t_.goldens) MOTE_TRY(golden(g));
    return Status::kOk;
  }

  Status golden(const Golden& g) noexcept {
    if (g.method >= t_.methods.size || g.is_output > 1 || g.segment >= t_.segments.size) return corrupt(Why::kGoldenRecord);
    const Method& m = t_.methods[g.method];
    if (g.io >= (g.is_output != 0 ? m.output_count : m.input_count)) return corrupt(Why::kGoldenRecord);
    const TensorDesc& d = t_.tensors[t_.ios[(g.is_output != 0 ? m.first_output : m.first_input) + g.io].tensor];
    uint64_t bytes = dtype_bytes(d.dtype);
    for (int k = 0; k < kMaxRank; ++k) {
      if (g.dims[k] < 0 || g.dims[k] > d.dims[k]) return corrupt(Why::kGoldenRecord, d.dims[k], g.dims[k]);
      if (k < d.rank) bytes *= static_cast<uint32_t>(g.dims[k]);
    }
    if (!(g.tolerance >= 0) || !in_range(g.offset, bytes, t_.segments[g.segment].size)) return corrupt(Why::kGoldenRecord);
    return Status::kOk;
  }

  ProgramTable& t_;
  const uint64_t file_size_;
  Diagnostic* const diagnostic_;
  int32_t tensor_ = -1;
  int32_t instruction_ = -1;
};

}  // namespace

uint32_t table_bytes(const uint8_t* head) noexcept {
  return (head[0] | static_cast<uint32_t>(head[1]) << 8 | static_cast<uint32_t>(head[2]) << 16 | static_cast<uint32_t>(head[3]) << 24) + 4;
}

uint32_t extent_bytes(const TensorDesc& d) noexcept {
  uint32_t k = 1, last = 0;
  for (int i = 0; i < d.rank; ++i) {
    const uint32_t size = static_cast<uint32_t>(d.dims[i]);
    if (size == 0) return 0;
    if (i > 0) k *= size;
    last += ((i == 1 && d.ring_rows != 0 ? d.ring_rows : size) - 1) * static_cast<uint32_t>(d.strides[i]);
  }
  const uint32_t n = d.rank > 0 ? static_cast<uint32_t>(d.dims[0]) : 1;
  if (d.layout != Layout::kPlain) return static_cast<uint32_t>(panel_bytes(d.layout, d.dtype, n, k));
  const uint32_t bits = dtype_bits(d.dtype);
  return bits < 8 ? static_cast<uint32_t>((uint64_t{n} * k * bits + 7) / 8) : last + bits / 8;
}

Status read_table(ConstBytes file, uint64_t file_size, ProgramTable* out, Diagnostic* diagnostic) noexcept {
  Status status = Status::kOk;
  if (reinterpret_cast<uintptr_t>(file.data) % kTableAlignment != 0) status = {Status::kInvalidArgument, Why::kMisaligned};
  else if (file.size < 12 || !table_has_identifier(file.data)) status = {Status::kCorrupt, Why::kNotAProgram};
  else if (table_bytes(file.data) < 12 || table_bytes(file.data) > file.size) status = {Status::kCorrupt, Why::kTruncated};
  else if (!find_parts({file.data, table_bytes(file.data)}, out)) status = {Status::kCorrupt, Why::kTable};
  if (!status.ok()) {
    if (diagnostic != nullptr) diagnostic->status = status;
    return status;
  }
  return Checker(*out, file_size, diagnostic).run();
}

}  // namespace mote
