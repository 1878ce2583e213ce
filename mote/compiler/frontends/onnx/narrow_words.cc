#include "mote/compiler/frontends/onnx/narrow_words.h"

#include "mote/ops/bitcast/bitcast.h"
#include "mote/ops/requantize/requantize.h"

namespace mote::frontends::onnx {
namespace {

constexpr int64_t kMostSpread = 4096;  // of larger constants several codes share a byte, as in the file

template <class A>
Value* with_type(Words& w, OpId id, A a, DType to, const std::vector<Value*>& inputs) {
  a.to = static_cast<decltype(a.to)>(to);
  return w.b.ok() && inputs[0] != nullptr ? w.b.op(id, a, inputs) : nullptr;
}

Value* bits_as(Words& w, Value* x, DType to) { return with_type(w, OpId::bitcast, ops::bitcast::Attrs{}, to, {x}); }

// Of the table's entries. Not a cast: folding would write a constant's indices into the program, four bytes for each code.
Value* indices_of(Words& w, Value* codes) {
  return with_type(w, OpId::requantize, ops::requantize::Attrs{}, DType::s32, {codes, w.number(1, DType::f32)});
}

Value* shift(Words& w, OpId id, Value* x, int by) { return x == nullptr ? nullptr : w.op(id, {x, w.number(by, dtype_of_value(x))}); }

// Element i of a constant, of which two may share a byte.
uint8_t code_at(const Value& v, size_t i, const NarrowType& t) {
  const int byte = dtype_bytes(v.type.dtype) == 1 ? v.data.data[i] : v.data.data[i / 2] >> (4 * (i % 2));
  return static_cast<uint8_t>(byte & ((1 << t.bits) - 1));
}

Value* spread_small(Words& w, const Value& v, const NarrowType& t) {
  std::vector<uint8_t> bytes(static_cast<size_t>(v.type.count()));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int code = code_at(v, i, t);
    bytes[i] = static_cast<uint8_t>(t.storage() == DType::s8 && code > t.high() ? code - (1 << t.bits) : code);
  }
  return w.b.graph().add_constant(t.storage(), v.type.dims, ir::Bytes::own(std::move(bytes)), v.name);
}

// The result of a lookup for every value of the bits that decide it: the leading ones, and whether any other is set.
constexpr int kExponentAndSign = 9;

}  // namespace

Value* spread_codes(Words& w, Value* constant, const NarrowType& t) {
  if (constant == nullptr || !constant->is_constant() || t.bits == 8) return constant;
  const int64_t count = constant->type.count(), in_byte = 8 / t.bits;
  if (count <= kMostSpread) return constant->type.dtype == t.storage() ? constant : spread_small(w, *constant, t);
  std::vector<uint8_t> packed(static_cast<size_t>((count + in_byte - 1) / in_byte)), to_top;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    uint8_t& byte = packed[i / static_cast<size_t>(in_byte)];
    byte = static_cast<uint8_t>(byte | code_at(*constant, i, t) << (static_cast<int>(i) % static_cast<int>(in_byte) * t.bits));
  }
  for (int i = 1; i <= static_cast<int>(in_byte); ++i) to_top.push_back(static_cast<uint8_t>(8 - t.bits * i));
  ir::Graph& g = w.b.graph();
  const int64_t padded = static_cast<int64_t>(packed.size()) * in_byte;
  const ir::Dims column{static_cast<int32_t>(packed.size()), 1}, row{1, static_cast<int32_t>(in_byte)};
  Value* bytes = g.add_constant(DType::u8, column, ir::Bytes::own(std::move(packed)), constant->name);
  // Each code goes to the top of a byte of its own and comes down again, with its sign where it has one.
  Value* x = w.op(OpId::shift_left, {bytes, g.constant<uint8_t>(row, to_top)});
  if (t.storage() == DType::s8) x = bits_as(w, x, DType::s8);
  x = shift(w, OpId::shift_right, x, 8 - t.bits);
  x = w.reshape(x, {padded});
  if (padded != count) x = w.slice(x, 0, 0, count);
  return w.reshape(x, {constant->type.dims.begin(), constant->type.dims.end()});
}

Value* numbers_of(Words& w, Value* codes, const NarrowType& t) {
  if (!t.is_float() || codes == nullptr) return codes;
  std::vector<float> table;
  const int all = (1 << t.bits) - 1;  // higher bits of a byte are passed over: callers may give any byte
  for (int code = 0; code < 256; ++code) table.push_back(decode(t, static_cast<uint8_t>(code & all)));
  Value* entries = w.b.graph().constant<float>({static_cast<int32_t>(table.size())}, table);
  return w.gather(entries, indices_of(w, codes), 0);
}

// A float of few bits is found by its first bits and one that tells whether any of the others is set: enough to round correctly, as long
// as the bits kept are two more than the result has.
Value* codes_of(Words& w, Value* x, const NarrowType& t, const EncodeRule& rule) {
  if (x == nullptr) return nullptr;
  if (!t.is_float()) {
    const bool integer = (mask_of(dtype_of_value(x)) & (kInt | kBool)) != 0;
    Value* low = w.cast(integer ? x : w.cast(x, DType::s32), t.storage());
    return shift(w, OpId::shift_right, shift(w, OpId::shift_left, low, 8 - t.bits), 8 - t.bits);
  }
  const int kept = kExponentAndSign + t.mantissa_bits + 2, dropped = 32 - kept;
  std::vector<uint8_t> table(size_t{1} << kept);
  for (size_t i = 0; i < table.size(); ++i) {
    const uint32_t bits = static_cast<uint32_t>(i) << dropped;
    float like;
    static_assert(sizeof like == sizeof bits, "f32 is looked at as its bits");
    __builtin_memcpy(&like, &bits, sizeof like);
    table[i] = encode(t, like, rule);
  }
  Value* bits = bits_as(w, w.cast(x, DType::f32), DType::u32);
  Value* rest = w.op(OpId::bitwise_and, {bits, w.number((1u << dropped) - 1, DType::u32)});
  Value* any = w.op(OpId::minimum, {rest, w.number(1, DType::u32)});
  Value* index = bits_as(w, w.op(OpId::bitwise_or, {shift(w, OpId::shift_right, bits, dropped), any}), DType::s32);
  return w.gather(w.b.graph().constant<uint8_t>({1 << kept}, table), index, 0);
}

Value* recode(Words& w, Value* codes, const NarrowType& from, const NarrowType& to, const EncodeRule& rule) {
  std::vector<uint8_t> table(256);
  const unsigned all = (1u << from.bits) - 1;
  for (unsigned code = 0; code < 256; ++code) table[code] = encode(to, decode(from, static_cast<uint8_t>(code & all)), rule);
  return w.op(OpId::q_lut, {codes, w.b.graph().constant<uint8_t>({256}, table)});
}

const NarrowType* narrow_operand(const NodeContext& c, int i) {
  const size_t at = static_cast<size_t>(i);
  return i >= 0 && at < c.operands.size() ? narrow_type(c.operands[at].element) : nullptr;
}

bool read_rule(NodeContext& c, EncodeRule* out) {
  out->saturate = c.attr_int("saturate", 1) != 0;
  const std::string mode = c.attr_string("round_mode", "up");
  if (mode == "down") out->power = PowerRounding::kDown;
  else if (mode == "nearest") out->power = PowerRounding::kNearest;
  else if (mode != "up") c.fail("attribute round_mode: expected up, down or nearest, found '" + mode + "'");
  return c.b.ok();
}

}  // namespace mote::frontends::onnx
