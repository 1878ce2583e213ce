#include "mote/format/reader.h"

#include <cstddef>

#include "mote/core/layout.h"
#include "mote/core/size.h"
#include "mote/format/table_fb.h"

namespace mote {
namespace {

// One kind of reference inside the table: a field of every record of `part` that must be less than the number of records of
// `target`. ProgramTable is an array of words for this purpose.
struct Reference {
  uint8_t part, record_bytes, field, target;
  uint8_t why;
};

template <class Record>
constexpr Reference reference(size_t part, size_t field, size_t target, Why why) {
  return {static_cast<uint8_t>(part / sizeof(void*)), sizeof(Record), static_cast<uint8_t>(field),
          static_cast<uint8_t>(target / sizeof(void*)), static_cast<uint8_t>(why)};
}
template <class Record>
constexpr Reference text(size_t part, size_t field) {
  return reference<Record>(part, field, offsetof(ProgramTable, strings), Why::kStrings);
}

using T = ProgramTable;
constexpr Reference kReferences[] = {
    text<uint32_t>(offsetof(T, source_names), 0),
    text<OpName>(offsetof(T, op_names), offsetof(OpName, name)),
    text<Pair>(offsetof(T, metadata), offsetof(Pair, key)),
    text<Pair>(offsetof(T, metadata), offsetof(Pair, value)),
    text<Pair>(offsetof(T, evidence), offsetof(Pair, key)),
    text<Pair>(offsetof(T, evidence), offsetof(Pair, value)),
    text<Bank>(offsetof(T, banks), offsetof(Bank, name)),
    text<Method>(offsetof(T, methods), offsetof(Method, name)),
    text<Io>(offsetof(T, ios), offsetof(Io, name)),
    text<BackendRecord>(offsetof(T, backends), offsetof(BackendRecord, name)),
    text<BackendRecord>(offsetof(T, backends), offsetof(BackendRecord, version)),
    text<BackendRecord>(offsetof(T, backends), offsetof(BackendRecord, capabilities)),
    text<Placement>(offsetof(T, placements), offsetof(Placement, backend)),
    reference<Io>(offsetof(T, ios), offsetof(Io, tensor), offsetof(T, tensors), Why::kIoTensor),
    reference<State>(offsetof(T, states), offsetof(State, tensor), offsetof(T, tensors), Why::kStateRecord),
    reference<Quant>(offsetof(T, quants), offsetof(Quant, tensor), offsetof(T, tensors), Why::kQuantRecord),
    reference<BackendRecord>(offsetof(T, backends), offsetof(BackendRecord, segment), offsetof(T, segments), Why::kBackendIndex),
    reference<Golden>(offsetof(T, goldens), offsetof(Golden, segment), offsetof(T, segments), Why::kGoldenRecord),
};

// Every rule returns the status that names it when it is broken; numbers and place go to the diagnostic on the way.
class Checker {
 public:
  Checker(ProgramTable& table, uint64_t file_size, Diagnostic& diagnostic) : t_(table), file_size_(file_size), d_(diagnostic) {}

  Status run() noexcept {
    MOTE_TRY(version());
    MOTE_TRY(references());
    if (t_.certificate == nullptr) return corrupt(Why::kCertificateMissing);
    MOTE_TRY(storage());
    for (uint32_t i = 0; i < t_.tensors.size; ++i) {
      d_.tensor = static_cast<int32_t>(i);
      MOTE_TRY(tensor(i));
    }
    d_.tensor = -1;
    MOTE_TRY(code());
    MOTE_TRY(methods());
    return records();
  }

 private:
  static Status corrupt(Why why) noexcept { return {Status::kCorrupt, why}; }
  Status found(Status status, int32_t expected, int32_t found) noexcept {
    d_.expected = expected;
    d_.found = found;
    return status;
  }
  Status corrupt(Why why, int32_t expected, int32_t actual) noexcept { return found(corrupt(why), expected, actual); }
  static bool in_range(uint32_t first, uint32_t count, size_t size) noexcept { return first <= size && count <= size - first; }
  // The same where files and segments may be larger than 4 GiB. Kept out of line: 64-bit code is large on 32-bit machines.
  [[gnu::noinline]] Status place(Why why, uint64_t offset, uint64_t bytes, uint64_t room) noexcept {
    return offset <= room && bytes <= room - offset ? Status(Status::kOk) : corrupt(why, clamp32(offset + bytes), clamp32(room));
  }
  bool is_string(uint32_t s) const noexcept { return s < t_.strings.size; }
  static bool is_alignment(uint32_t a) noexcept { return a >= 16 && (a & (a - 1)) == 0 && a <= 1u << 24; }

  // A newer minor version is read as long as it requires nothing unknown; this reader knows no optional features yet.
  Status version() noexcept {
    if (t_.major > kFormatMajor) return found({Status::kVersion, Why::kNewerMajor}, kFormatMajor, t_.major);
    const ConstBytes& s = t_.strings;
    if (s.empty() || s[0] != 0 || s[s.size - 1] != 0 || !is_string(t_.policy)) return corrupt(Why::kStrings);
    if (t_.requires_.empty()) return Status::kOk;
    if (!is_string(t_.requires_[0])) return corrupt(Why::kStrings);
    d_.name = t_.string(t_.requires_[0]);
    return found({Status::kVersion, Why::kUnknownFeature}, kFormatMinor, t_.minor);
  }

  const ConstBytes& part(uint8_t word) const noexcept {
    return *reinterpret_cast<const ConstBytes*>(reinterpret_cast<void* const*>(&t_) + word);
  }

  Status references() noexcept {
    for (const Reference& r : kReferences) {
      const ConstBytes& records = part(r.part);
      const uint32_t limit = static_cast<uint32_t>(part(r.target).size);
      for (uint32_t i = 0; i < records.size; ++i) {
        const uint32_t index = *reinterpret_cast<const uint32_t*>(records.data + size_t{i} * r.record_bytes + r.field);
        if (index >= limit) return corrupt(static_cast<Why>(r.why), static_cast<int32_t>(limit), static_cast<int32_t>(index));
      }
    }
    return Status::kOk;
  }

  Status storage() noexcept {
    for (const Segment& s : t_.segments) {
      if (s.kind > SegmentKind::kSignature || (s.flags & ~kExternal) != 0 || s.reserved != 0) return corrupt(Why::kReserved);
      if (!is_alignment(s.alignment) || (s.offset & (s.alignment - 1)) != 0)
        return corrupt(Why::kSegmentRange, static_cast<int32_t>(s.alignment), static_cast<int32_t>(s.offset & (s.alignment - 1)));
      if ((s.flags & kExternal) == 0) MOTE_TRY(place(Why::kSegmentRange, s.offset, s.size, file_size_));
    }
    for (const Bank& b : t_.banks)
      if (!is_alignment(b.alignment) || b.size > 0xffffffffu || t_.banks.size > kMaxBanks) return corrupt(Why::kBankRange);
    return Status::kOk;
  }

  // Multiplies within the limit of a tensor's size; false beyond it.
  static bool grow(uint32_t& size, uint32_t factor) noexcept {
    const uint64_t product = uint64_t{size} * factor;
    size = static_cast<uint32_t>(product);
    return product <= kMaxTensorBytes;
  }

  // Bytes of a plain tensor without gaps, fixed sizes and no size of 0, as nearly all are: those need no more proof. 0 for all others.
  static uint32_t simple_bytes(const TensorDesc& d) noexcept {
    if (d.rank > 4 || (static_cast<uint32_t>(d.layout) | d.dynamic | d.ring_rows) != 0) return 0;
    uint32_t bytes = dtype_bytes(d.dtype);
    int i = kMaxRank;
    // Half of them at once, unless it is the code that should be small: opening a file takes a twentieth less.
#if !defined(__OPTIMIZE_SIZE__)
    uint32_t unused = 0;
#pragma GCC unroll 4
    while (i > 4) --i, unused |= static_cast<uint32_t>(d.dims[i] | d.strides[i]);
    if (unused != 0) return 0;
#endif
    while (i > d.rank)
      if (--i, (d.dims[i] | d.strides[i]) != 0) return 0;
    while (i > 0) {
      --i;
      const uint64_t product = uint64_t{bytes} * static_cast<uint32_t>(d.dims[i]);
      if (static_cast<uint32_t>(d.strides[i]) != bytes || product > kMaxTensorBytes) return 0;
      bytes = static_cast<uint32_t>(product);
    }
    return bytes;
  }

  // Sizes, strides and layout: an extent below 2^31 bytes, rows that do not overlap.
  Status shape(const TensorDesc& d) noexcept {
    const uint32_t bits = dtype_bits(d.dtype), width = bits / 8;
    const bool plain = d.layout == Layout::kPlain;
    if (bits == 0 || d.layout > Layout::kPanel16k4Pairs || d.storage > Storage::kOutput) return corrupt(Why::kTensorType);
    if (d.rank > kMaxRank) return corrupt(Why::kTensorShape, kMaxRank, d.rank);
    if (d.ring_rows != 0 && (d.rank < 3 || !plain || d.storage != Storage::kArena || d.dynamic != 0)) return corrupt(Why::kRing);
    for (int i = d.rank; i < kMaxRank; ++i)
      if ((d.dims[i] | d.strides[i]) != 0) return corrupt(Why::kTensorShape, i, d.dims[i]);
    uint32_t stride = width, count = 1;  // of everything inside dimension i, gaps included
    for (int i = d.rank; i-- > 0;) {
      const uint32_t size = static_cast<uint32_t>(d.dims[i]), own = static_cast<uint32_t>(d.strides[i]);
      const uint32_t filled = size > 0 ? size : 1;
      bool sound;
      if (!plain) sound = own == 0;
      else if (i == d.rank - 1 || width == 0) sound = own == width;
      else sound = size <= 1 || (own >= stride && (own & (width - 1)) == 0);
      if (own > stride) stride = own;
      sound &= grow(stride, i == 1 && d.ring_rows != 0 ? d.ring_rows : filled) && grow(count, filled);
      if (!sound) return corrupt(Why::kTensorShape, i, d.dims[i]);
    }
    if (d.dynamic != 0 && (d.dynamic >> d.rank != 0 || d.storage == Storage::kConstant || width == 0 || !is_dense(d)))
      return corrupt(Why::kDynamic);
    if (plain) return Status::kOk;
    const uint32_t n = d.dims[0] > 0 ? static_cast<uint32_t>(d.dims[0]) : 1;
    const uint64_t bytes = panel_bytes(d.layout, d.dtype, n, count / n);
    return d.rank >= 2 && d.storage == Storage::kConstant && bytes - 1 < kMaxTensorBytes ? Status(Status::kOk) : corrupt(Why::kTensorType);
  }

  Status tensor(uint32_t i) noexcept {
    const TensorDesc& d = t_.tensors[i];
    uint32_t bytes = d.storage <= Storage::kOutput ? simple_bytes(d) : 0;
    if (bytes == 0) {
      MOTE_TRY(shape(d));
      bytes = extent_bytes(d);
    }
    uint64_t room;
    if (d.storage >= Storage::kInput) {
      const bool listed = d.bank == 0 && d.offset < t_.ios.size && t_.ios[d.offset].tensor == i;
      return listed ? Status(Status::kOk) : corrupt(Why::kIoTensor);
    }
    if (d.storage == Storage::kConstant) {
      if (d.bank >= t_.segments.size || t_.segments[d.bank].kind != SegmentKind::kConstants) return corrupt(Why::kBankRange);
      room = t_.segments[d.bank].size;
    } else {
      if (d.bank >= t_.banks.size) return corrupt(Why::kBankRange, static_cast<int32_t>(t_.banks.size), d.bank);
      room = t_.banks[d.bank].size;
    }
    const uint32_t width = dtype_bytes(d.dtype), beyond = static_cast<uint32_t>(d.offset) & (width - 1);
    if (width > 1 && beyond != 0) return corrupt(Why::kTensorRange, static_cast<int32_t>(width), static_cast<int32_t>(beyond));
    return place(Why::kTensorRange, d.offset, bytes, room);
  }

  Status code() noexcept {
    const int32_t tensors = static_cast<int32_t>(t_.tensors.size);
    for (const int32_t o : t_.operands)
      if (o < -1 || o >= tensors) return corrupt(Why::kOperandIndex, tensors, o);
    for (const Instruction& n : t_.instructions) {
      d_.instruction = static_cast<int32_t>(&n - t_.instructions.data);
      if (!in_range(n.operands, uint32_t{n.input_count} + n.output_count, t_.operands.size) || n.output_count > 255)
        return corrupt(Why::kOperandRange);
      if (n.attrs % 4 != 0 || !in_range(n.attrs, n.attrs_size, t_.attrs.size)) return corrupt(Why::kAttrRange);
    }
    d_.instruction = -1;
    if (!t_.source_names.empty() && t_.source_names.size != t_.instructions.size) return corrupt(Why::kStrings);
    return Status::kOk;
  }

  // Methods lie one after the other and together hold every instruction; so do their inputs and outputs in ios.
  Status methods() noexcept {
    uint32_t next = 0, next_io = 0;
    for (const Method& m : t_.methods) {
      const bool fits = m.instruction_count <= t_.instructions.size - next && m.input_count <= t_.ios.size - next_io &&
                        m.output_count <= t_.ios.size - next_io - m.input_count;
      if (!fits || m.first_instruction != next || m.first_input != next_io || m.first_output != next_io + m.input_count)
        return corrupt(Why::kMethodRange);
      next += m.instruction_count;
      next_io = m.first_output + m.output_count;
      for (uint32_t k = m.first_input; k < next_io; ++k)
        if (!is_io(k, k < m.first_output)) return corrupt(Why::kIoTensor);
    }
    return next == t_.instructions.size && next_io == t_.ios.size ? Status(Status::kOk) : corrupt(Why::kMethodRange);
  }

  bool is_io(uint32_t k, bool input) const noexcept {
    const TensorDesc& d = t_.tensors[t_.ios[k].tensor];
    if (d.storage == (input ? Storage::kOutput : Storage::kInput) || (input && d.storage == Storage::kConstant)) return false;
    return d.ring_rows == 0 &&
           (d.storage < Storage::kInput || static_cast<uint32_t>(d.offset) == k);  // tensor() has seen that it is a number in ios
  }

  Status records() noexcept {
    for (const State& s : t_.states)
      if (!is_state(s)) return corrupt(Why::kStateRecord);
    for (const Placement& p : t_.placements)
      if (!in_range(p.first_instruction, p.instruction_count, t_.instructions.size)) return corrupt(Why::kPlacementRecord);
    for (const Golden& g : t_.goldens) MOTE_TRY(golden(g));
    return Status::kOk;
  }

  bool is_state(const State& s) const noexcept {
    const TensorDesc& d = t_.tensors[s.tensor];
    if (d.storage != Storage::kState || d.dynamic != 0) return false;
    if (s.init == -1) return true;
    if (static_cast<uint32_t>(s.init) >= t_.tensors.size) return false;
    const TensorDesc& init = t_.tensors[static_cast<uint32_t>(s.init)];
    return init.storage == Storage::kConstant && init.dtype == d.dtype && same_shape(d, init) && is_dense(d) && is_dense(init);
  }

  Status golden(const Golden& g) noexcept {
    if (g.method >= t_.methods.size || g.is_output > 1) return corrupt(Why::kGoldenRecord);
    const Method& m = t_.methods[g.method];
    const uint32_t first = g.is_output != 0 ? m.first_output : m.first_input, count = g.is_output != 0 ? m.output_count : m.input_count;
    if (g.io >= count || !(g.tolerance >= 0)) return corrupt(Why::kGoldenRecord);
    const TensorDesc& d = t_.tensors[t_.ios[first + g.io].tensor];
    uint32_t elements = 1;  // no more than the tensor has
    for (int k = 0; k < kMaxRank; ++k) {
      if (static_cast<uint32_t>(g.dims[k]) > static_cast<uint32_t>(d.dims[k])) return corrupt(Why::kGoldenRecord, d.dims[k], g.dims[k]);
      if (k < d.rank) elements *= static_cast<uint32_t>(g.dims[k]);
    }
    return place(Why::kGoldenRecord, g.offset, bytes_of_few(d.dtype, elements), t_.segments[g.segment].size);
  }

  ProgramTable& t_;
  const uint64_t file_size_;
  Diagnostic& d_;
};

}  // namespace

uint32_t table_bytes(const uint8_t* head) noexcept {
  return (head[0] | static_cast<uint32_t>(head[1]) << 8 | static_cast<uint32_t>(head[2]) << 16 | static_cast<uint32_t>(head[3]) << 24) + 4;
}

uint32_t extent_bytes(const TensorDesc& d) noexcept {
  const uint32_t bits = dtype_bits(d.dtype);
  uint32_t bytes = bits / 8;
  for (int i = 0; i < d.rank; ++i) {
    if (d.dims[i] == 0) return 0;
    bytes += static_cast<uint32_t>(d.dims[i] - 1) * static_cast<uint32_t>(d.strides[i]);
  }
  if (d.ring_rows != 0) bytes -= static_cast<uint32_t>(d.dims[1] - d.ring_rows) * static_cast<uint32_t>(d.strides[1]);
  if (d.layout == Layout::kPlain && bits >= 8) return bytes;
  const uint32_t n = d.rank > 0 ? static_cast<uint32_t>(d.dims[0]) : 1, k = static_cast<uint32_t>(element_count(d)) / n;
  if (d.layout != Layout::kPlain) return static_cast<uint32_t>(panel_bytes(d.layout, d.dtype, n, k));
  return static_cast<uint32_t>(bytes_of_few(d.dtype, n * k));
}

Status read_table(ConstBytes file, uint64_t file_size, ProgramTable* out, Diagnostic* diagnostic) noexcept {
  Diagnostic unread;
  Diagnostic& d = diagnostic != nullptr ? *diagnostic : unread;
  d = Diagnostic{};
  if (reinterpret_cast<uintptr_t>(file.data) % kTableAlignment != 0) d.status = {Status::kInvalidArgument, Why::kMisaligned};
  else if (file.size < 12 || !table_has_identifier(file.data)) d.status = {Status::kCorrupt, Why::kNotAProgram};
  else if (table_bytes(file.data) < 12 || table_bytes(file.data) > file.size) d.status = {Status::kCorrupt, Why::kTruncated};
  else if (!find_parts({file.data, table_bytes(file.data)}, out)) d.status = {Status::kCorrupt, Why::kTable};
  else d.status = Checker(*out, file_size, d).run();
  return d.status;
}

}  // namespace mote
