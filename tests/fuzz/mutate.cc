#include "tests/fuzz/mutate.h"

#include <cstring>
#include <vector>

#include "mote/compiler/emit/builder.h"
#include "mote/format/table_fb.h"
#include "mote/runtime/program.h"
#include "tests/fuzz/exact_block.h"

namespace mote::fuzz {
namespace {

// A field of a record: where in it, how wide.
struct Field {
  uint8_t offset, bytes;
};

// A vector of records inside the file.
struct Records {
  uint8_t* data;
  size_t count, stride;
  const Field* fields;
  size_t field_count;
};

constexpr Field kTensorFields[] = {{0, 8},  {8, 4},  {12, 4}, {16, 4}, {20, 4}, {24, 4}, {40, 4}, {44, 4}, {48, 4},
                                   {52, 4}, {56, 4}, {72, 1}, {73, 1}, {74, 1}, {75, 1}, {76, 1}, {77, 1}, {78, 2}};
constexpr Field kInstructionFields[] = {{0, 2}, {2, 2}, {4, 4}, {8, 4}, {12, 2}, {14, 2}};
constexpr Field kMethodFields[] = {{0, 4}, {4, 4}, {8, 4}, {12, 4}, {16, 4}, {20, 4}, {24, 4}};
constexpr Field kTwoWords[] = {{0, 4}, {4, 4}};
constexpr Field kThreeWords[] = {{0, 4}, {4, 4}, {8, 4}};
constexpr Field kWord[] = {{0, 4}};
constexpr Field kByte[] = {{0, 1}};
constexpr Field kBankFields[] = {{0, 8}, {8, 4}, {12, 4}};
constexpr Field kSegmentFields[] = {{0, 8}, {8, 8}, {48, 1}, {49, 1}, {50, 2}, {52, 4}};
constexpr Field kBackendFields[] = {{0, 4}, {4, 4}, {8, 4}, {12, 4}, {16, 8}};
constexpr Field kPlacementFields[] = {{0, 4}, {4, 4}, {8, 4}, {16, 8}};
constexpr Field kGoldenFields[] = {{0, 8}, {8, 4}, {12, 4}, {40, 2}, {42, 2}, {44, 2}, {46, 2}, {48, 4}, {52, 4}};
constexpr Field kCertificateFields[] = {{0, 8}, {24, 4}, {28, 4}, {32, 4}, {36, 4}, {40, 4}, {44, 4}};

template <class T, size_t N>
Records records(Span<const T> span, const Field (&fields)[N]) {
  return {const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(span.data)), span.size, sizeof(T), fields, N};
}

uint64_t load(const uint8_t* at, uint32_t bytes) {
  uint64_t v = 0;
  std::memcpy(&v, at, bytes);
  return v;
}

class Mutator {
 public:
  Mutator(const ProgramTable& t, ByteSpan constants, Dice& dice) : dice_(dice) {
    // What is mutated most stands more than once.
    lists_ = {records(t.tensors, kTensorFields),
              records(t.tensors, kTensorFields),
              records(t.tensors, kTensorFields),
              records(t.instructions, kInstructionFields),
              records(t.instructions, kInstructionFields),
              records(t.operands, kWord),
              records(t.operands, kWord),
              records(t.attrs, kByte),
              records(t.attrs, kByte),
              attr_words(t),
              attr_words(t),
              records(t.steps, kThreeWords),
              records(t.methods, kMethodFields),
              records(t.ios, kTwoWords),
              records(t.states, kTwoWords),
              records(t.banks, kBankFields),
              records(t.segments, kSegmentFields),
              records(t.op_names, kTwoWords),
              records(t.source_names, kWord),
              records(t.backends, kBackendFields),
              records(t.placements, kPlacementFields),
              records(t.goldens, kGoldenFields),
              records(t.quants, kThreeWords),
              records(t.metadata, kTwoWords),
              records(t.evidence, kTwoWords),
              records(t.strings, kByte)};
    if (t.certificate != nullptr) lists_.push_back(records(Span<const Certificate>(t.certificate, 1), kCertificateFields));
    lists_.push_back(records(Span<const uint8_t>(constants), kByte));
    lists_.push_back(records(Span<const uint8_t>(constants), kByte));
  }

  void change_one() {
    const Records& r = lists_[dice_.below(static_cast<uint32_t>(lists_.size()))];
    if (r.count == 0) return;
    const uint32_t count = static_cast<uint32_t>(r.count);
    uint8_t* record = r.data + r.stride * dice_.below(count);
    const Field f = r.fields[dice_.below(static_cast<uint32_t>(r.field_count))];
    const uint8_t* other = r.data + r.stride * dice_.below(count);
    if (dice_.chance(6)) {
      std::memmove(record, other, r.stride);
      return;
    }
    const uint64_t v = changed(load(record + f.offset, f.bytes), load(other + f.offset, f.bytes));
    std::memcpy(record + f.offset, &v, f.bytes);
  }

 private:
  static Records attr_words(const ProgramTable& t) { return {const_cast<uint8_t*>(t.attrs.data), t.attrs.size / 4, 4, kWord, 1}; }

  uint64_t changed(uint64_t v, uint64_t elsewhere) {
    static constexpr uint64_t kValues[] = {0,      1,      2,      3,          4,          8,          15,
                                           16,     255,    0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffffffffffff,
                                           0xff01, 0xff02, 0xff03, 0xff04,     0x40000000, 0x10000};
    switch (dice_.below(8)) {
      case 0: return v + 1;
      case 1: return v - 1;
      case 2: return elsewhere;
      case 3: return kValues[dice_.below(std::size(kValues))];
      case 4: return v ^ uint64_t { 1 } << dice_.below(32);
      case 5: return dice_.below(200);
      case 6: return v * 2;
      default: return dice_.below(8);
    }
  }

  Dice& dice_;
  std::vector<Records> lists_;
};

void fix_certificate(const Program& p) { const_cast<Certificate*>(p.table().certificate)->needs = p.needs().stated; }

}  // namespace

bool mutate_program(ByteSpan file, Dice& dice) {
  ExactBlock copy(file.size, 16);
  ProgramTable table;
  if (file.size < 12 || table_bytes(file.data) > file.size || table_bytes(file.data) < 12) return false;
  std::memcpy(copy.data(), file.data, file.size);
  if (!find_parts({copy.data(), table_bytes(copy.data())}, &table)) return false;
  // Every few changes that the verifier refuses, start again from the original.
  const bool leave_certificate = dice.chance(5);
  for (int attempt = 0; attempt < 12; ++attempt) {
    std::memcpy(copy.data(), file.data, file.size);
    const size_t table_size = table_bytes(copy.data());
    Mutator m(table, {copy.data() + table_size, file.size - table_size}, dice);
    for (uint32_t i = 0, n = 1 + dice.below(4); i < n; ++i) m.change_one();
    Program p;
    Diagnostic d;
    ProgramSource source;
    source.file = copy.span();
    if (!Program::open_uncertified(source, emit::builtin_registry(), &p, &d).ok()) continue;
    if (!leave_certificate) fix_certificate(p);
    std::memcpy(file.data, copy.data(), file.size);
    return true;
  }
  std::memcpy(file.data, copy.data(), file.size);
  return false;
}

}  // namespace mote::fuzz
