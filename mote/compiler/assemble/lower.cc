#include "mote/compiler/assemble/lower.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "mote/compiler/program/cost.h"
#include "mote/format/delegate.h"
#include "mote/format/reader.h"
#include "mote/ops/op_docs.h"

namespace mote::assemble {
namespace {

uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

uint64_t hash_of(const uint8_t* data, size_t size) {
  uint64_t h = 0xcbf29ce484222325u ^ size;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  }
  for (; size > 0; ++data, --size) h = (h ^ *data) * 0x100000001b3u;
  return h;
}

// The constants' segment under construction. Equal bytes are stored once.
class ConstantPool {
 public:
  explicit ConstantPool(std::vector<uint8_t>& bytes) : bytes_(bytes) {}

  uint64_t add(const uint8_t* data, size_t size) {
    auto& same_hash = places_[hash_of(data, size)];
    for (const Place& p : same_hash)
      if (p.size == size && (size == 0 || std::memcmp(bytes_.data() + p.at, data, size) == 0)) return p.at;
    // Kernels read whole cache lines of what is large; small ones are not worth the gaps.
    const uint64_t at = align_up(bytes_.size(), size >= 64 ? 64 : 16);
    bytes_.resize(static_cast<size_t>(at));
    bytes_.insert(bytes_.end(), data, data + size);
    same_hash.push_back({at, size});
    return at;
  }

 private:
  struct Place {
    uint64_t at;
    size_t size;
  };
  std::vector<uint8_t>& bytes_;
  std::unordered_map<uint64_t, std::vector<Place>> places_;
};

class Lowering {
 public:
  Lowering(const schedule::Plan& plan, const LowerOptions& options, program::ProgramRecords& records, std::string& error)
      : plan_(plan), options_(options), r_(records), error_(error) {}

  bool run() {
    program::SegmentData constants;
    constants.flags = options_.external_constants ? static_cast<uint8_t>(kExternal) : uint8_t{0};
    for (const schedule::Bank& b : plan_.banks) r_.banks.push_back({b.size, r_.strings.add(b.name), b.alignment});
    for (const schedule::Constant& c : plan_.constants) constant_bytes_ += c.data.size + 64;
    constants.bytes.reserve(constant_bytes_);
    if (!tensors(constants.bytes) || !methods()) return false;
    for (const schedule::State& s : plan_.states) r_.states.push_back({static_cast<uint32_t>(s.tensor), s.init});
    for (const auto& [key, value] : plan_.metadata) r_.metadata.push_back({r_.strings.add(key), r_.strings.add(value)});
    for (const auto& [key, value] : plan_.evidence) r_.evidence.push_back({r_.strings.add(key), r_.strings.add(value)});
    if (!options_.source_names) r_.source_names.clear();
    r_.segments.push_back(std::move(constants));
    program::state_costs(r_);
    return true;
  }

 private:
  bool fail(const std::string& why) {
    error_ = why;
    return false;
  }

  bool tensors(std::vector<uint8_t>& constant_bytes) {
    ConstantPool pool(constant_bytes);
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const schedule::Tensor& t = plan_.tensors[i];
      TensorDesc d = t.desc;
      d.bank = 0;
      d.offset = 0;  // of inputs and outputs: set by methods()
      if (d.storage == Storage::kConstant) {
        const ir::Bytes& data = plan_.constants[static_cast<size_t>(t.place)].data;
        const uint64_t extent = extent_bytes(d);
        if (t.at + extent > data.size)
          return fail("constant '" + t.name + "' has " + std::to_string(data.size) + " bytes; its type needs " +
                      std::to_string(t.at + extent));
        d.offset = pool.add(data.data + t.at, static_cast<size_t>(extent));
      } else if (d.storage <= Storage::kState) {
        const schedule::Buffer& b = plan_.buffers[static_cast<size_t>(t.place)];
        d.bank = b.bank;
        d.offset = b.offset + t.at;
      }
      r_.tensors.push_back(d);
      if (t.quant) r_.quants.push_back({static_cast<uint32_t>(i), t.quant->scale, t.quant->zero_point});
    }
    return true;
  }

  bool methods() {
    for (const schedule::Method& m : plan_.methods) {
      Method out{};
      out.name = r_.strings.add(m.name);
      out.first_instruction = m.first_step;
      out.instruction_count = m.step_count;
      out.first_input = static_cast<uint32_t>(r_.ios.size());
      out.input_count = static_cast<uint32_t>(m.inputs.size());
      out.first_output = out.first_input + out.input_count;
      out.output_count = static_cast<uint32_t>(m.outputs.size());
      for (const auto* list : {&m.inputs, &m.outputs}) {
        for (const schedule::Io& io : *list) {
          TensorDesc& d = r_.tensors[static_cast<size_t>(io.tensor)];
          if (d.storage >= Storage::kInput) d.offset = r_.ios.size();
          r_.ios.push_back({static_cast<uint32_t>(io.tensor), r_.strings.add(io.name)});
        }
      }
      r_.methods.push_back(out);
    }
    for (const schedule::Step& s : plan_.steps)
      if (!instruction(s)) return false;
    return true;
  }

  template <class A>
  static std::vector<uint8_t> bytes_of(const A& a) {
    const auto* p = reinterpret_cast<const uint8_t*>(&a);
    return {p, p + sizeof a};
  }

  std::vector<uint8_t> attributes(const schedule::Step& s) {
    if (s.is(ControlOp::kIf)) return bytes_of(IfAttrs{s.body, s.otherwise});
    if (s.is(ControlOp::kLoop)) return bytes_of(LoopAttrs{s.body, s.trips});
    if (s.is(ControlOp::kStrip)) return bytes_of(StripAttrs{s.body, s.trips, static_cast<uint32_t>(r_.steps.size())});
    if (s.is(ControlOp::kDelegate) && s.body > 0) {
      DelegateRange range{};
      std::memcpy(&range.call, s.attrs.data(), std::min(s.attrs.size(), sizeof range.call));
      range.fallback_count = s.body;
      return bytes_of(range);
    }
    return s.attrs;
  }

  bool instruction(const schedule::Step& s) {
    const size_t operands = s.inputs.size() + s.outputs.size();
    if (operands > 0xffff || s.attrs.size() > 0xffff) return fail("'" + s.name + "' has too many operands");
    Instruction n{};
    n.op = s.op == ir::kCustom ? custom(s.symbol) : s.op;
    const std::vector<uint8_t> attrs = attributes(s);
    r_.attrs.resize(static_cast<size_t>(align_up(r_.attrs.size(), 4)));
    n.attrs = static_cast<uint32_t>(r_.attrs.size());
    n.attrs_size = static_cast<uint16_t>(attrs.size());
    r_.attrs.insert(r_.attrs.end(), attrs.begin(), attrs.end());
    n.operands = static_cast<uint32_t>(r_.operands.size());
    n.input_count = static_cast<uint16_t>(s.inputs.size());
    n.output_count = static_cast<uint16_t>(s.outputs.size());
    r_.operands.insert(r_.operands.end(), s.inputs.begin(), s.inputs.end());
    r_.operands.insert(r_.operands.end(), s.outputs.begin(), s.outputs.end());
    // The body of a strip follows at once; its rows stand together in `steps`.
    if (s.is(ControlOp::kStrip)) {
      const schedule::Step* body = &s + 1;
      for (uint32_t k = 0; k < s.body; ++k) r_.steps.push_back(body[k].rows);
    }
    r_.instructions.push_back(n);
    r_.source_names.push_back(options_.source_names ? r_.strings.add(s.name) : 0);
    if (s.op < kFirstCustomOp && options_.op_names && named_.emplace(s.op, true).second)
      if (const OpDoc* doc = find_op_doc(s.op)) r_.op_names.push_back({s.op, r_.strings.add("mote::" + doc->name)});
    return true;
  }

  uint16_t custom(const std::string& symbol) {
    const auto found = custom_.find(symbol);
    if (found != custom_.end()) return found->second;
    const auto id = static_cast<uint16_t>(kFirstCustomOp + custom_.size());
    custom_[symbol] = id;
    r_.op_names.push_back({id, r_.strings.add(symbol)});
    return id;
  }

  const schedule::Plan& plan_;
  const LowerOptions& options_;
  program::ProgramRecords& r_;
  std::string& error_;
  size_t constant_bytes_ = 0;
  std::map<std::string, uint16_t> custom_;
  std::map<uint16_t, bool> named_;
};

}  // namespace

bool lower(const schedule::Plan& plan, const LowerOptions& options, program::ProgramRecords* out, std::string* error) {
  program::ProgramRecords records;
  if (!Lowering(plan, options, records, *error).run()) return false;
  *out = std::move(records);
  return true;
}

}  // namespace mote::assemble
