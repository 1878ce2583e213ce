#include "mote/backends/common/piece.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

#include "mote/core/half.h"
#include "mote/core/layout.h"
#include "mote/core/size.h"
#include "mote/ops/op_table.h"

namespace mote::backends {
namespace {

constexpr uint64_t kMostBytes = 0x7fffffff;  // elements are counted in 31 bits

Operand operand_of(const TensorDesc& d) {
  Operand o;
  o.present = true;
  o.dtype = d.dtype;
  o.rank = d.rank;
  std::copy(d.dims, d.dims + kMaxRank, o.dims);
  o.layout = d.layout;
  return o;
}

class Reader {
 public:
  Reader(const Program& program, Piece& piece, std::string& why) : program_(program), t_(program.table()), piece_(piece), why_(why) {}

  bool run() {
    if (t_.methods.size != 1 || t_.states.size != 0) return fail("expected one method and no state");
    piece_.buffer_bytes.push_back(0);
    for (const Bank& b : t_.banks) {
      if (b.size > kMostBytes) return fail("the piece needs more memory than can be addressed");
      banks_.push_back(static_cast<int32_t>(piece_.buffer_bytes.size()));
      piece_.buffer_bytes.push_back(b.size);
    }
    if (!ios()) return false;
    const Method& m = t_.methods[0];
    for (uint32_t i = 0; i < m.instruction_count; ++i)
      if (!instruction(m.first_instruction + i)) return false;
    return true;
  }

 private:
  bool fail(const std::string& what) {
    why_ = what;
    return false;
  }

  bool ios() {
    const Method& m = t_.methods[0];
    for (uint32_t i = 0; i < m.input_count + m.output_count; ++i) {
      const uint32_t tensor = t_.ios[(i < m.input_count ? m.first_input + i : m.first_output + (i - m.input_count))].tensor;
      const TensorDesc& d = t_.tensors[tensor];
      if (d.storage < Storage::kInput) return fail("inputs and outputs must be bound by the caller");
      io_[tensor] = static_cast<int32_t>(piece_.buffer_bytes.size());
      (i < m.input_count ? piece_.inputs : piece_.outputs).push_back(static_cast<int32_t>(piece_.buffer_bytes.size()));
      (i < m.input_count ? piece_.input_tensors : piece_.output_tensors).push_back(tensor);
      piece_.buffer_bytes.push_back(dense_bytes(d));
      if (piece_.buffer_bytes.back() > kMostBytes) return fail("an input or output is larger than can be addressed");
    }
    return true;
  }

  bool locate(uint32_t tensor, Operand* o) {
    const TensorDesc& d = t_.tensors[tensor];
    *o = operand_of(d);
    o->tensor = static_cast<int32_t>(tensor);
    if (d.dynamic != 0 || (d.layout == Layout::kPlain && !is_dense(d))) return fail("a tensor is not dense, or its size is not fixed");
    if (d.storage == Storage::kConstant) {
      o->data = program_.segment(d.bank).data + d.offset;
    } else if (d.storage == Storage::kArena) {
      o->place = {banks_[d.bank], static_cast<int32_t>(d.offset / 4)};
      if (d.offset % 4 != 0) return fail("a tensor is not aligned");
    } else {
      // Everything but inputs and outputs is refused: a state need not have a record.
      const auto io = io_.find(tensor);
      if (io == io_.end()) return fail("a tensor is kept from run to run");
      o->place = {io->second, 0};
    }
    return true;
  }

  bool instruction(uint32_t pc) {
    const Instruction& n = t_.instructions[pc];
    const OpDef* def = n.op < kFirstControlOp ? program_.definition(n) : nullptr;
    if (def == nullptr) return fail("the piece steers or calls what is no operator of Mote's");
    piece_.attrs.emplace_back();
    auto& attrs = piece_.attrs.back();
    if (def->attrs_size > sizeof attrs) return fail("attributes of a size not known here");
    attrs.fill(0);
    if (n.attrs_size != 0) std::memcpy(attrs.data(), t_.attrs.data + n.attrs, std::min<size_t>(n.attrs_size, def->attrs_size));
    OpView v;
    v.op = n.op;
    v.attrs = attrs.data();
    v.instruction = pc;
    for (uint32_t k = 0; k < uint32_t{n.input_count} + n.output_count; ++k) {
      Operand o;
      const int32_t t = t_.operands[n.operands + k];
      if (t >= 0 && !locate(static_cast<uint32_t>(t), &o)) return false;
      (k < n.input_count ? v.inputs : v.outputs).push_back(o);
    }
    piece_.ops.push_back(std::move(v));
    return true;
  }

  const Program& program_;
  const ProgramTable& t_;
  Piece& piece_;
  std::string& why_;
  std::vector<int32_t> banks_;
  std::map<uint32_t, int32_t> io_;
};

}  // namespace

bool open_piece(const void* data, uint64_t size, Program* out) {
  static const OpRegistry ops{builtin_ops()};
  Diagnostic diagnostic;
  ProgramSource source;
  source.file = {static_cast<const uint8_t*>(data), static_cast<size_t>(size)};
  return Program::open(source, ops, out, &diagnostic).ok();
}

bool read_piece(const Program& program, Piece* out, std::string* why) {
  *out = Piece{};
  return Reader(program, *out, *why).run();
}

OpView view_of(const mote_backend_op& op, const char** why) {
  OpView v;
  v.op = op.op;
  v.attrs = op.attrs;
  *why = nullptr;
  const auto add = [&](const mote_backend_operand& o, std::vector<Operand>& to) {
    Operand r;
    r.present = o.present != 0;
    if (r.present) {
      if (o.dynamic != 0) *why = "its sizes are known only when running";
      r.dtype = static_cast<DType>(o.dtype);
      r.rank = o.rank;
      std::copy(o.dims, o.dims + o.rank, r.dims);
      r.layout = static_cast<Layout>(o.layout);
      r.data = o.data;
    }
    to.push_back(r);
  };
  for (uint32_t i = 0; i < op.input_count; ++i) add(op.inputs[i], v.inputs);
  for (uint32_t i = 0; i < op.output_count; ++i) add(op.outputs[i], v.outputs);
  return v;
}

bool operands_fit(const Program& program, const mote_backend_tensor* operands, uint32_t count, bool output) {
  const ProgramTable& t = program.table();
  if (t.methods.size != 1) return false;
  const Method& m = t.methods[0];
  if (count != (output ? m.output_count : m.input_count)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const TensorDesc& d = t.tensors[t.ios[(output ? m.first_output : m.first_input) + i].tensor];
    const mote_backend_tensor& o = operands[i];
    if (o.dtype != static_cast<uint8_t>(d.dtype) || o.rank != d.rank || !std::equal(d.dims, d.dims + d.rank, o.dims)) return false;
  }
  return true;
}

PieceSizes::PieceSizes(const Program& program, bool output) {
  const ProgramTable& t = program.table();
  const Method& m = t.methods[0];
  for (uint32_t i = 0; i < (output ? m.output_count : m.input_count); ++i) {
    const TensorDesc& d = t.tensors[t.ios[(output ? m.first_output : m.first_input) + i].tensor];
    Sizes s{};
    std::copy(d.dims, d.dims + kMaxRank, s.dims);
    s.rank = d.rank;
    sizes_.push_back(s);
  }
}

bool PieceSizes::fit(const mote_backend_tensor* operands, uint32_t count) const noexcept {
  if (count != sizes_.size()) return false;
  for (uint32_t i = 0; i < count; ++i)
    if (operands[i].rank != sizes_[i].rank || !std::equal(sizes_[i].dims, sizes_[i].dims + sizes_[i].rank, operands[i].dims)) return false;
  return true;
}

std::vector<float> plain_weights(const Operand& w, int32_t n, int32_t k) {
  std::vector<float> out(static_cast<size_t>(n) * static_cast<size_t>(k));
  const auto* from = static_cast<const uint8_t*>(w.data);
  const uint32_t width = dtype_bytes(w.dtype);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j = 0; j < k; ++j) {
      const uint64_t flat = static_cast<uint64_t>(i) * static_cast<uint64_t>(k) + static_cast<uint64_t>(j);
      const uint64_t at = w.layout == Layout::kPlain ? flat * width
                                                     : panel_offset(w.layout, w.dtype, static_cast<uint32_t>(i), static_cast<uint32_t>(j),
                                                                    static_cast<uint32_t>(k));
      if (w.dtype == DType::f16) {
        f16 half(0.0f);
        std::memcpy(static_cast<void*>(&half), from + at, sizeof half);
        out[static_cast<size_t>(flat)] = static_cast<float>(half);
      } else {
        std::memcpy(&out[static_cast<size_t>(flat)], from + at, sizeof(float));
      }
    }
  }
  return out;
}

bool has_capabilities(const char* needed, const std::vector<std::string>& known) {
  std::istringstream words(needed);
  for (std::string word; words >> word;)
    if (std::find(known.begin(), known.end(), word) == known.end()) return false;
  return true;
}

}  // namespace mote::backends
