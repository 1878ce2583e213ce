#include "tests/fuzz/pieces.h"

#include <cstring>

#include "mote/compiler/emit/builder.h"
#include "mote/core/size.h"
#include "mote/format/delegate.h"
#include "mote/format/table_fb.h"
#include "tests/fuzz/exact_block.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/op_case.h"
#include "tests/fuzz/values.h"

namespace mote::fuzz {
namespace {

using emit::Dims;
using emit::kAbsent;
using emit::ProgramBuilder;
using emit::TensorId;

Dims dims_of(const TensorDesc& d) { return Dims(d.dims, d.dims + d.rank); }

// An operator's case as a compiler asks about it.
bool supports(const mote_backend_compiler& compiler, const OpCase& c) {
  std::vector<mote_backend_operand> in, out;
  for (const Operand& o : c.inputs)
    in.push_back({o.desc.dims,
                  o.constant ? o.bytes.data() : nullptr,
                  static_cast<uint8_t>(o.present),
                  static_cast<uint8_t>(o.desc.dtype),
                  o.desc.rank,
                  static_cast<uint8_t>(o.desc.layout),
                  0,
                  {}});
  for (const TensorType& t : c.outputs) {
    out.push_back({t.dims, nullptr, 1, static_cast<uint8_t>(t.dtype), t.rank, 0, 0, {}});
    for (int i = 0; i < t.rank; ++i)
      if (t.dims[i] < 0) return false;
  }
  mote_backend_op op{};
  op.op = c.doc->id;
  op.attrs_size = c.def->attrs_size;
  op.input_count = static_cast<uint32_t>(in.size());
  op.output_count = static_cast<uint32_t>(out.size());
  op.attrs = c.attrs.data();
  op.inputs = in.data();
  op.outputs = out.data();
  return compiler.supports(&op) == nullptr;
}

// One to four operators in a row, each on what those before it gave where that fits.
bool make_piece(const mote_backend_compiler& compiler, Dice& dice, emit::FileBytes* out) {
  ProgramBuilder b;
  b.begin_method("main");
  std::vector<TensorId> pool;
  const auto tensor_for = [&](const Operand& o) {
    if (o.constant || o.desc.layout != Layout::kPlain || dtype_bits(o.desc.dtype) < 8)
      return b.constant(o.desc.dtype, dims_of(o.desc), o.bytes.data(), o.desc.layout);
    for (const TensorId t : pool)
      if (b.desc(t).dtype == o.desc.dtype && same_shape(b.desc(t), o.desc) && dice.chance(85)) return t;
    pool.push_back(b.input("in" + std::to_string(pool.size()), o.desc.dtype, dims_of(o.desc)));
    return pool.back();
  };
  const auto& ops = known_ops();
  int made = 0;
  const int wanted = dice.between(1, 4);
  for (int i = 0; i < 60 && made < wanted; ++i) {
    OpCase c;
    if (!make_case(ops[dice.below(static_cast<uint32_t>(ops.size()))], dice, &c, 60) || c.outputs.empty() || !supports(compiler, c))
      continue;
    std::vector<TensorId> in, results;
    for (const Operand& o : c.inputs) in.push_back(o.present ? tensor_for(o) : kAbsent);
    for (const TensorType& t : c.outputs) results.push_back(b.temp(t.dtype, Dims(t.dims, t.dims + t.rank)));
    b.instruction(c.doc->id, c.attrs.data(), c.def->attrs_size, in, results);
    pool.insert(pool.end(), results.begin(), results.end());
    ++made;
  }
  if (made == 0) return false;
  // An input that nobody reads, of any type.
  if (dice.chance(20)) b.input("unread", static_cast<DType>(dice.between(1, 15)), {dice.between(0, 40)});
  b.output("out", pool.back());
  if (dice.chance(40)) b.output("second", pool[dice.below(static_cast<uint32_t>(pool.size()))]);
  std::string error;
  emit::WriteOptions options;
  options.segment_alignment = 16;
  return b.finish(out, &error, options);
}

// The compiler's blob, which begins with the piece; the piece alone where it takes it for none of its own.
std::vector<uint8_t> lowered(const mote_backend_compiler& compiler, const emit::FileBytes& piece) {
  std::vector<uint8_t> blob;
  uint64_t device_bytes = 0;
  const auto emit = [](void* self, const void* data, uint64_t bytes) {
    const auto* from = static_cast<const uint8_t*>(data);
    static_cast<std::vector<uint8_t>*>(self)->insert(static_cast<std::vector<uint8_t>*>(self)->end(), from, from + bytes);
  };
  if (compiler.lower(piece.data(), piece.size, emit, &blob, &device_bytes) != 0) blob.assign(piece.data(), piece.data() + piece.size);
  return blob;
}

class Wrapper {
 public:
  Wrapper(const PieceBackend& backend, const emit::FileBytes& piece, const std::vector<uint8_t>& blob, Dice& dice)
      : backend_(backend), piece_(piece), blob_(blob), dice_(dice) {}

  bool run(emit::FileBytes* out) {
    if (!read_table(piece_.span(), piece_.size, &t_, nullptr).ok() || t_.methods.size != 1) return false;
    if (dice_.chance(30)) other_bank_ = b_.bank("other", 16u << dice_.below(10));
    const mote_backend_compiler& c = *backend_.compiler;
    const uint32_t backend = b_.backend(c.name, c.version, c.capabilities, blob_);
    b_.begin_method("main");
    const TensorId apart = b_.input("apart", DType::f32, {3});
    std::vector<TensorId> results;
    for (int i = 0, n = dice_.chance(20) ? 2 : 1; i < n; ++i) {
      const Method& m = t_.methods[0];
      std::vector<TensorId> in, outputs;
      for (uint32_t k = 0; k < m.input_count; ++k) in.push_back(operand(m.first_input + k, k));
      for (uint32_t k = 0; k < m.output_count; ++k) outputs.push_back(result(m.first_output + k));
      b_.delegate(backend, dice_.chance(3) ? 1 : 0, in, outputs);
      if (dice_.chance(30)) overlap(apart, &results);
      results.insert(results.end(), outputs.begin(), outputs.end());
    }
    uint32_t number = 0;
    for (const TensorId t : results)
      if (dice_.chance(80) || number == 0) b_.output("out" + std::to_string(number++), t);
    std::string error;
    emit::WriteOptions options;
    options.segment_alignment = 16u << dice_.below(3);
    if (!b_.finish(out, &error, options)) return false;
    emit::ProgramRecords r;
    if (!dice_.chance(30) || !emit::read_records(out->span(), &r)) return true;
    add_golden(&r);
    return emit::write_program(r, options, emit::builtin_registry(), out, &error);
  }

 private:
  // Mostly as the piece has it. A changed piece may ask for gigabytes: the program around it offers less.
  TensorDesc wanted(uint32_t io) {
    TensorDesc d = t_.tensors[t_.ios[io].tensor];
    if (dice_.chance(4)) {
      if (d.rank > 0 && dice_.chance(50)) d.dims[dice_.below(d.rank)] = dice_.between(0, 9);
      else d.dtype = static_cast<DType>(dice_.between(1, 13));
    }
    constexpr uint64_t kMostElements = 1 << 16;
    uint64_t elements = 1;
    for (int k = 0; k < d.rank; ++k) {
      const uint64_t most = kMostElements / elements;
      if (static_cast<uint64_t>(d.dims[k]) > most) d.dims[k] = static_cast<int32_t>(most);
      if (d.dims[k] > 0) elements *= static_cast<uint64_t>(d.dims[k]);
    }
    return d;
  }

  // An input of the program, a constant, or what an operator gives.
  TensorId operand(uint32_t io, uint32_t number) {
    const TensorDesc d = wanted(io);
    const bool whole = dtype_bits(d.dtype) >= 8;
    if (dice_.chance(15) || (!whole && dice_.chance(50))) {
      std::vector<uint8_t> bytes(static_cast<size_t>(dense_bytes(d)));
      fill_values(d.dtype, bytes.data(), bytes.size(), dice_);
      return b_.constant(d.dtype, dims_of(d), bytes.data());
    }
    const auto dynamic = static_cast<uint8_t>(whole && dice_.chance(35) ? dice_.below(1u << d.rank) : 0);
    const TensorId t = b_.input("in" + std::to_string(number) + "_" + std::to_string(inputs_.size()), d.dtype, dims_of(d), dynamic);
    inputs_.push_back(t);
    if (d.dtype != DType::f32 || dice_.chance(70)) return t;
    const TensorId through = b_.temp(d.dtype, dims_of(d), dynamic);
    b_.op_into(OpId::abs, NoAttrs{}, {t}, {through});
    return through;
  }

  TensorId result(uint32_t io) {
    const TensorDesc d = wanted(io);
    const bool whole = dtype_bits(d.dtype) >= 8;
    const DType type = whole ? d.dtype : DType::u8;
    // Rows with gaps between them.
    if (whole && d.rank >= 2 && dice_.chance(20)) {
      Dims larger = dims_of(d);
      for (const int32_t n : larger)
        if (n <= 0) return b_.temp(type, dims_of(d));
      larger.back() += dice_.between(1, 3);
      const TensorId base = b_.temp(type, larger);
      return b_.view(base, 0, dims_of(d), std::vector<int32_t>(b_.desc(base).strides, b_.desc(base).strides + d.rank));
    }
    const TensorId t = b_.temp(type, dims_of(d), static_cast<uint8_t>(dice_.chance(10) ? (1u << d.rank) - 1 : 0));
    if (other_bank_ != 0 && dice_.chance(50)) b_.set_bank(t, other_bank_);
    return t;
  }

  // The CPU computes beside the last delegate.
  void overlap(TensorId apart, std::vector<TensorId>* results) {
    emit::ProgramRecords& r = b_.records();
    const DelegateOverlap attrs = {{{0, 0}, 0}, 1};
    DelegateOverlap changed = attrs;
    Instruction& n = r.instructions.back();
    std::memcpy(&changed.range.call, r.attrs.data() + n.attrs, sizeof changed.range.call);
    r.attrs.resize((r.attrs.size() + 3) / 4 * 4);
    n.attrs = static_cast<uint32_t>(r.attrs.size());
    n.attrs_size = sizeof changed;
    const auto* bytes = reinterpret_cast<const uint8_t*>(&changed);
    r.attrs.insert(r.attrs.end(), bytes, bytes + sizeof changed);
    const TensorId t = b_.temp(DType::f32, {3});
    b_.op_into(OpId::relu, NoAttrs{}, {apart}, {t});
    results->push_back(t);
  }

  // One example, of sizes up to the bounds.
  void add_golden(emit::ProgramRecords* r) {
    emit::SegmentData s;
    s.kind = SegmentKind::kGolden;
    const Method& m = r->methods[0];
    for (uint32_t i = 0; i < m.input_count + m.output_count; ++i) {
      const TensorDesc& d = r->tensors[r->ios[m.first_input + i].tensor];
      Golden g{};
      g.is_output = i >= m.input_count ? 1 : 0;
      g.io = static_cast<uint16_t>(i - (g.is_output != 0 ? m.input_count : 0));
      g.segment = static_cast<uint32_t>(r->segments.size());
      g.offset = s.bytes.size();
      for (int k = 0; k < d.rank; ++k) g.dims[k] = (d.dynamic >> k & 1) != 0 ? dice_.between(0, d.dims[k]) : d.dims[k];
      std::vector<uint8_t> bytes(static_cast<size_t>(dense_bytes(d.dtype, d.rank, g.dims)));
      fill_values(d.dtype, bytes.data(), bytes.size(), dice_);
      s.bytes.insert(s.bytes.end(), bytes.begin(), bytes.end());
      r->goldens.push_back(g);
    }
    r->segments.push_back(s);
  }

  const PieceBackend& backend_;
  const emit::FileBytes& piece_;
  const std::vector<uint8_t>& blob_;
  Dice& dice_;
  ProgramTable t_;
  ProgramBuilder b_;
  std::vector<TensorId> inputs_;
  uint8_t other_bank_ = 0;
};

}  // namespace

bool make_delegating_program(const PieceBackend& backend, Dice& dice, emit::FileBytes* out) {
  emit::FileBytes piece;
  if (!make_piece(*backend.compiler, dice, &piece)) return false;
  std::vector<uint8_t> blob = lowered(*backend.compiler, piece);
  if (dice.chance(50)) {
    mutate_program({piece.data(), piece.size}, dice);
    std::memcpy(blob.data(), piece.data(), piece.size);
  }
  return Wrapper(backend, piece, blob, dice).run(out);
}

void mutate_blobs(ByteSpan file, Dice& dice) {
  ProgramTable t;
  if (file.size < 12 || table_bytes(file.data) > file.size || table_bytes(file.data) < 12) return;
  if (!find_parts({file.data, table_bytes(file.data)}, &t)) return;
  for (uint32_t i = 0; i < t.segments.size && i < 8; ++i) {
    const Segment& s = t.segments[i];
    if (s.kind != SegmentKind::kBlob || s.offset > file.size || s.size > file.size - s.offset || s.size == 0) continue;
    const ByteSpan blob(file.data + s.offset, static_cast<size_t>(s.size));
    // What is behind the program in it, of backends that write something there.
    const uint32_t inner = blob.size >= 12 ? table_bytes(blob.data) : 0;
    if (dice.chance(15)) blob.data[blob.size - 1 - dice.below(static_cast<uint32_t>(blob.size < 64 ? blob.size : 64))] = dice.byte();
    else if (inner >= 12 && inner <= blob.size && table_has_identifier(blob.data)) mutate_program(blob, dice);
  }
}

}  // namespace mote::fuzz
