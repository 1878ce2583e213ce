// What goes wrong outside of the runtime: memory one byte short, files cut off, bits flipped. Each is refused with the reason, or harmless.

#include <gtest/gtest.h>

#include <algorithm>

#include "mote/compiler/emit/builder.h"
#include "tests/fuzz/exact_block.h"
#include "tests/fuzz/op_case.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/run_untrusted.h"

namespace mote::faults {
namespace {

using fuzz::Dice;
using fuzz::ExactBlock;

constexpr int kPrograms = 400;

// Random programs over every operator in turn; those that can be made.
std::vector<emit::FileBytes> random_programs(int count, uint64_t seed, int max_ops) {
  std::vector<emit::FileBytes> files;
  for (int i = 0; i < count; ++i) {
    Dice dice(seed + static_cast<uint64_t>(i));
    fuzz::ProgramShape shape;
    shape.first_op = static_cast<int>(static_cast<size_t>(i) % fuzz::known_ops().size());
    shape.max_ops = max_ops;
    emit::FileBytes file;
    std::string error;
    if (fuzz::make_program(dice, shape, &file, &error)) files.push_back(std::move(file));
  }
  return files;
}

// Memory of exactly the stated sizes for one program, any part of which can be made smaller.
class Memory {
 public:
  explicit Memory(const Program& p) {
    for (const Bank& b : p.table().banks) blocks_.emplace_back(static_cast<size_t>(b.size), b.alignment);
    for (const ExactBlock& b : blocks_) banks.push_back(b.span());
    blocks_.emplace_back(p.needs().instance, 8);
    instance = blocks_.back().span();
    blocks_.emplace_back(p.needs().scratch(1), 16);
    scratch = blocks_.back().span();
  }
  Status create(const Program& p, Diagnostic* d) {
    const mote_backend* backends[] = {&fuzz::kTouchBackend};
    InstanceOptions options;
    options.backends = backends;
    Instance i;
    return i.create(p, {instance, {banks.data(), banks.size()}, scratch}, options, d);
  }
  std::vector<ByteSpan> banks;
  ByteSpan instance, scratch;

 private:
  std::vector<ExactBlock> blocks_;
};

Program open(const emit::FileBytes& file) {
  Program p;
  ProgramSource source;
  source.file = file.span();
  Diagnostic d;
  EXPECT_TRUE(Program::open(source, emit::builtin_registry(), &p, &d).ok()) << emit::describe(d);
  return p;
}

void expect_refused(Memory& m, const Program& p, Why why, uint64_t expected, uint64_t found) {
  Diagnostic d;
  const Status s = m.create(p, &d);
  EXPECT_EQ(s.code(), Status::kOutOfMemory);
  EXPECT_EQ(s.why(), why);
  EXPECT_EQ(d.status.bits(), s.bits());
  EXPECT_EQ(d.expected, static_cast<int64_t>(expected));
  EXPECT_EQ(d.found, static_cast<int64_t>(found));
}

TEST(Faults, RunsInExactlyTheStatedMemoryAndIsRefusedWithOneByteLess) {
  int banks = 0, scratches = 0, ran = 0;
  for (const emit::FileBytes& file : random_programs(kPrograms, 100, 5)) {
    const Program p = open(file);
    Dice dice(1);
    const fuzz::UntrustedResult r = fuzz::run_untrusted(file.span(), dice);
    EXPECT_TRUE(r.create.ok());
    EXPECT_EQ(r.broken, nullptr);
    ran += r.methods_run > 0 ? 1 : 0;
    for (size_t i = 0; i < p.table().banks.size; ++i) {
      const uint64_t size = p.table().banks[i].size;
      if (size == 0) continue;
      Memory m(p);
      --m.banks[i].size;
      expect_refused(m, p, Why::kBankSize, size, size - 1);
      ++banks;
    }
    Memory m(p);
    --m.instance.size;
    expect_refused(m, p, Why::kInstanceSize, p.needs().instance, p.needs().instance - 1);
    if (p.needs().scratch(1) > 0) {
      Memory less(p);
      --less.scratch.size;
      expect_refused(less, p, Why::kScratchSize, p.needs().scratch(1), p.needs().scratch(1) - 1);
      ++scratches;
    }
  }
  EXPECT_GT(ran, kPrograms / 2);
  EXPECT_GT(banks, 50);
  // A selective build may have no operator that works in scratch memory.
  const auto& ops = fuzz::known_ops();
  const auto working = std::count_if(ops.begin(), ops.end(), [](const fuzz::KnownOp& op) { return op.def->scratch != nullptr; });
  if (working > 4) {
    EXPECT_GT(scratches, 3);
  }
}

TEST(Faults, WrongBanksAreRefused) {
  emit::ProgramBuilder b;
  b.begin_method("main");
  const emit::TensorId x = b.input("x", DType::f32, {4});
  b.output("y", b.op(OpId::add, NoAttrs{}, {b.op(OpId::add, NoAttrs{}, {x, x}), x}));
  emit::FileBytes file;
  std::string error;
  ASSERT_TRUE(b.finish(&file, &error)) << error;
  const Program p = open(file);
  Diagnostic d;
  Memory fewer(p);
  fewer.banks.pop_back();
  EXPECT_EQ(fewer.create(p, &d).why(), Why::kBankCount);
  EXPECT_EQ(d.expected, 1);
  ExactBlock larger(static_cast<size_t>(p.table().banks[0].size) + 8, 64);
  Memory crooked(p);
  crooked.banks[0] = {larger.data() + 8, static_cast<size_t>(p.table().banks[0].size)};
  EXPECT_EQ(crooked.create(p, &d).why(), Why::kBankAlignment);
}

// Opens the first `size` bytes, in a block of just that size.
Status open_prefix(const emit::FileBytes& file, size_t size) {
  ExactBlock part(size, 16);
  std::memcpy(part.data(), file.data(), size);
  ProgramSource source;
  source.file = part.span();
  Program p;
  return Program::open(source, emit::builtin_registry(), &p);
}

TEST(Faults, EveryTruncationIsRefused) {
  size_t prefixes = 0;
  for (const emit::FileBytes& file : random_programs(24, 9000, 4)) {
    const size_t table = table_bytes(file.data());
    for (size_t size = 0; size < file.size; size += size < table ? 1 : 7) {
      const Status s = open_prefix(file, size);
      ASSERT_EQ(s.code(), Status::kCorrupt) << size << " of " << file.size;
      const bool no_program = s.why() == Why::kNotAProgram, cut = s.why() == Why::kTruncated, segment = s.why() == Why::kSegmentRange;
      ASSERT_TRUE(size < 12 ? no_program : size < table ? cut : segment) << size << " of " << file.size << ": " << why_name(s.why());
      ++prefixes;
    }
    EXPECT_EQ(open_prefix(file, file.size - 1).code(), Status::kCorrupt);
    EXPECT_TRUE(open_prefix(file, file.size).ok());
  }
  EXPECT_GT(prefixes, 10000u);
}

TEST(Faults, FlippedBitsAreRefusedOrHarmless) {
  size_t flips = 0, refused = 0, ran = 0;
  for (const emit::FileBytes& original : random_programs(12, 5000, 2)) {
    emit::FileBytes file = original;
    const size_t table = table_bytes(file.data());
    for (size_t bit = 0; bit < table * 8; ++bit) {
      file.data()[bit / 8] = static_cast<uint8_t>(file.data()[bit / 8] ^ 1u << bit % 8);
      Dice dice(bit);
      fuzz::UntrustedLimits limits;
      limits.memory_bytes = 1u << 20;
      limits.steps = 100;
      const fuzz::UntrustedResult r = fuzz::run_untrusted(file.span(), dice, limits);
      ASSERT_EQ(r.broken, nullptr) << "bit " << bit;
      ++flips;
      refused += r.open.ok() ? 0 : 1;
      ran += r.methods_run > 0 ? 1 : 0;
      file.data()[bit / 8] = original.data()[bit / 8];
    }
  }
  std::printf("%zu bits flipped: %zu programs refused, %zu ran\n", flips, refused, ran);
  EXPECT_GT(flips, 50000u);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(ran, 0u);
}

}  // namespace
}  // namespace mote::faults
