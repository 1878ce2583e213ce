#include "mote/compiler/emit/cpp/emit_cpp.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "mote/compiler/emit/cpp/amalgamate.h"
#include "mote/compiler/emit/cpp/names.h"
#include "mote/compiler/emit/cpp/portable.h"
#include "mote/compiler/program/registry.h"
#include "mote/ops/op_docs.h"

namespace mote::emit {
namespace {

const std::string kScratchBank = "@scratch";  // in code, until all kernels are known

std::string number(uint64_t v) { return std::to_string(v); }
uint64_t align_up(uint64_t v, uint64_t a) { return (v + a - 1) / a * a; }

class CppEmitter {
 public:
  CppEmitter(const program::ProgramRecords& records, const CppOptions& options, CppFiles* out, std::string* error)
      : s_{records}, r_(records), options_(options), out_(*out), error_(*error) {}

  bool run() {
    out_.name = identifier(options_.name);
    for (const program::SegmentData& segment : r_.segments)
      if ((segment.flags & kExternal) != 0) return fail("constants in another file cannot be emitted as C++");
    for (const TensorDesc& d : r_.tensors)
      if (d.dynamic != 0) return fail("sizes that are known only when running cannot be emitted as C++: fix them with --shape or --dim");
    for (size_t b = 0; b < r_.banks.size(); ++b) banks_.push_back(unique(text_of(r_.banks[b].name)));
    for (const Method& m : r_.methods)
      if (!method(m)) return false;
    return finish();
  }

 private:
  bool fail(const std::string& what) {
    error_ = what;
    return false;
  }
  std::string text_of(uint32_t offset) const { return reinterpret_cast<const char*>(r_.strings.bytes().data() + offset); }
  std::string unique(const std::string& text) {
    std::string name = identifier(text);
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  // Where a tensor's bytes are.
  std::string place(int32_t t) {
    const TensorDesc& d = s_.desc(t);
    switch (d.storage) {
      case Storage::kConstant: {
        const Tensor c = s_.constant(t);
        return "reinterpret_cast<const uint8_t*>(" + constants_.bytes(c.as<const uint8_t>(), extent_bytes(d)) + ")";
      }
      case Storage::kInput:
        return "const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(" + io_names_[static_cast<size_t>(d.offset)] + "))";
      case Storage::kOutput: return "reinterpret_cast<uint8_t*>(" + io_names_[static_cast<size_t>(d.offset)] + ")";
      default: return banks_[d.bank] + " + " + number(d.offset);
    }
  }
  std::string typed(int32_t t) {
    if (t < 0) return "nullptr";
    const TensorDesc& d = s_.desc(t);
    const bool constant = d.storage == Storage::kConstant || d.storage == Storage::kInput;
    return std::string("reinterpret_cast<") + (constant ? "const " : "") + c_type(d.dtype) + "*>(" + place(t) + ")";
  }

  bool method(const Method& m) {
    const std::string name = r_.methods.size() == 1 ? "run" : unique(text_of(m.name));
    io_names_.resize(r_.ios.size());
    std::string parameters;
    for (const std::string& bank : banks_) parameters += (parameters.empty() ? "" : ", ") + ("uint8_t* " + bank);
    for (uint32_t i = m.first_input; i < m.first_output + m.output_count; ++i) {
      const TensorDesc& d = s_.desc(static_cast<int32_t>(r_.ios[i].tensor));
      io_names_[i] = unique(text_of(r_.ios[i].name));
      if (d.storage >= Storage::kInput) {
        parameters += (parameters.empty() ? "" : ", ");
        parameters += std::string(d.storage == Storage::kInput ? "const " : "") + c_type(d.dtype) + "* " + io_names_[i];
      }
      declare_io(d, io_names_[i], i < m.first_output);
      declare_scale(r_.ios[i].tensor, io_names_[i]);
    }
    std::string body;
    if (!range(m.first_instruction, m.instruction_count, "", 1, &body)) return false;
    header_ +=
        "\n// Runs " + (name == "run" ? std::string("the model") : name) + " once; 0: done.\nint " + name + "(" + parameters + ");\n";
    functions_ += "\nint " + name + "(" + parameters + ") {\n" + body + "  return 0;\n}\n";
    return true;
  }

  void declare_io(const TensorDesc& d, const std::string& name, bool input) {
    std::string shape;
    for (int i = 0; i < d.rank; ++i) shape += (i > 0 ? ", " : "") + std::to_string(d.dims[i]);
    const std::string what = std::string(input ? "Input" : "Output") + " (" + shape + ")";
    const std::string count = "constexpr unsigned " + name + "_count = " + std::to_string(element_count(d)) + ";\n";
    if (d.storage >= Storage::kInput) {
      header_ += "\n// " + what + ", the caller's.\n" + count;
      return;
    }
    header_ += "\n// " + what + ", in place; a run overwrites inputs.\n" + count + "inline " + c_type(d.dtype) + "* " + name +
               "(uint8_t* " + banks_[d.bank] + ") { return reinterpret_cast<" + c_type(d.dtype) + "*>(" + banks_[d.bank] + " + " +
               number(d.offset) + "); }\n";
  }

  // What the integers stand for.
  void declare_scale(uint32_t tensor, const std::string& name) {
    for (const Quant& q : r_.quants) {
      if (q.tensor != tensor) continue;
      const std::string scale = unique(name + "_scale"), zero = unique(name + "_zero_point");
      char value[40];
      std::snprintf(value, sizeof value, "%.9e", static_cast<double>(q.scale));
      header_ += "// A number x stands for (x - " + zero + ") * " + scale + ".\nconstexpr float " + scale + " = " + value +
                 "f;\nconstexpr int " + zero + " = " + std::to_string(q.zero_point) + ";\n";
      return;
    }
  }

  // Instructions [first, first + count); `rows` names the trip of a strip they are in, with steps from first_step on.
  bool range(uint32_t first, uint32_t count, const std::string& trip, int depth, std::string* body, uint32_t first_step = 0) {
    const std::string indent(static_cast<size_t>(depth) * 2, ' ');
    for (uint32_t i = first; i < first + count; ++i) {
      const Instruction& n = r_.instructions[i];
      if (n.op >= kFirstControlOp) {
        uint32_t length = 0;
        if (!control(i, n, depth, body, &length)) return false;
        i += length;
        continue;
      }
      std::string begin = "0", end = std::to_string(0x7fffffff);
      const int32_t y = s_.output(n, 0);
      const bool rows = y >= 0 && s_.desc(y).rank > 1;
      if (rows) end = std::to_string(s_.desc(y).dims[1]);
      if (!trip.empty()) {
        const Step& step = r_.steps[first_step + (i - first)];
        const std::string at = std::to_string(step.begin) + " + " + trip + " * " + std::to_string(step.step);
        begin = "row(" + at + ", " + end + ")";
        end = "row(" + at + " + " + std::to_string(step.rows) + ", " + end + ")";
      }
      if (!call(i, n, begin, end, !trip.empty(), indent, body)) return false;
    }
    return true;
  }

  bool control(uint32_t at, const Instruction& n, int depth, std::string* body, uint32_t* length) {
    const std::string indent(static_cast<size_t>(depth) * 2, ' '), trip = "i" + std::to_string(depth);
    switch (static_cast<ControlOp>(n.op)) {
      case ControlOp::kStrip: {
        const auto a = s_.attrs<StripAttrs>(n);
        strips_ = true;
        *length = a.body_count;
        *body += indent + "for (int " + trip + " = 0; " + trip + " < " + number(a.count) + "; ++" + trip + ") {\n";
        if (!range(at + 1, a.body_count, trip, depth + 1, body, a.first_step)) return false;
        break;
      }
      case ControlOp::kIf: {
        const auto a = s_.attrs<IfAttrs>(n);
        *length = a.then_count + a.else_count;
        *body += indent + "if (*" + typed(s_.input(n, 0)) + " != 0) {\n";
        if (!range(at + 1, a.then_count, "", depth + 1, body)) return false;
        if (a.else_count > 0) *body += indent + "} else {\n";
        if (!range(at + 1 + a.then_count, a.else_count, "", depth + 1, body)) return false;
        break;
      }
      case ControlOp::kLoop: {
        const auto a = s_.attrs<LoopAttrs>(n);
        *length = a.body_count;
        std::string test = trip + " < " + number(a.max_trips);
        if (s_.input(n, 0) >= 0) test += " && " + trip + " < *" + typed(s_.input(n, 0));
        if (s_.input(n, 1) >= 0) test += " && *" + typed(s_.input(n, 1)) + " != 0";
        *body += indent + "for (int64_t " + trip + " = 0; " + test + "; ++" + trip + ") {\n";
        if (s_.output(n, 0) >= 0) *body += indent + "  *" + typed(s_.output(n, 0)) + " = " + trip + ";\n";
        if (!range(at + 1, a.body_count, "", depth + 1, body)) return false;
        break;
      }
      default: return fail("instruction " + number(at) + " runs on a backend: it cannot be emitted as C++");
    }
    *body += indent + "}\n";
    return true;
  }

  bool call(uint32_t at, const Instruction& n, const std::string& begin, const std::string& end, bool in_strip, const std::string& indent,
            std::string* body) {
    const std::optional<KernelCall> k = find_kernel(s_, n, options_.isa, &constants_);
    const bool kernel = k && (k->by_rows || !in_strip);
    if (!kernel || !k->in_order) {
      if (overlaps_input(s_, n))
        return fail("instruction " + number(at) + " writes over its input, which its kernel cannot: a defect of Mote");
    }
    if (!kernel) return portable_call(at, n, begin, end, in_strip, indent, body);
    headers_.insert(k->header);
    const std::string id = number(at);
    const auto numbered = [&](std::string text) {
      for (size_t p; (p = text.find('@')) != std::string::npos;) text.replace(p, 1, id);
      return text;
    };
    if (!k->sum.empty()) geometries_ += "const Sum kSum" + id + " = " + k->sum + ";\n";
    geometries_ += "const " + k->type + " kStep" + id + " = " + numbered(k->geometry) + ";\n";
    const int32_t images = k->by_rows ? s_.desc(k->inputs.back()).dims[0] : 1;
    *body += indent;
    if (images > 1) *body += "for (int n = 0; n < " + number(static_cast<uint64_t>(images)) + "; ++n) ";
    *body += k->function + "(kStep" + id;
    for (const int32_t t : k->inputs) {
      *body += ", " + typed(t);
      if (images > 1 && t >= 0) *body += " + n * " + number(static_cast<uint64_t>(s_.desc(t).strides[0]) / dtype_bytes(s_.desc(t).dtype));
    }
    *body += k->more;
    if (k->by_rows) *body += ", " + begin + ", " + end;
    if (k->scratch_bytes > 0) *body += ", " + scratch(k->scratch_type);
    scratch_ = std::max<uint64_t>(scratch_, k->scratch_bytes);
    *body += ");" + comment(at) + "\n";
    return true;
  }

  std::string scratch(const std::string& type) const { return "reinterpret_cast<" + type + ">(" + kScratchBank + " + kScratch)"; }
  std::string comment(uint32_t at) const {
    if (at >= r_.source_names.size()) return "";
    std::string name = text_of(r_.source_names[at]).substr(0, 60);
    for (char& c : name)
      if (static_cast<unsigned char>(c) < 32 || c == '\\') c = ' ';
    return name.empty() ? "" : "  // " + name;
  }

  std::string descriptor(int32_t t) {
    const std::string text = descriptor_text(s_.desc(t));
    const auto found = descriptors_.find(text);
    if (found != descriptors_.end()) return found->second;
    const std::string name = "kDesc" + number(descriptors_.size());
    geometries_ += "const mote::TensorDesc " + name + " = " + text + ";\n";
    return descriptors_[text] = name;
  }

  // An operator's own kernel, called as the executor would.
  bool portable_call(uint32_t at, const Instruction& n, const std::string& begin, const std::string& end, bool in_strip,
                     const std::string& indent, std::string* body) {
    const OpDoc* doc = n.op < kFirstCustomOp ? find_op_doc(n.op) : nullptr;
    const OpDef* def = n.op < kFirstCustomOp ? program::builtin_registry().find(n.op, nullptr) : nullptr;
    if (doc == nullptr || def == nullptr) return fail("instruction " + number(at) + " is a custom operator: it cannot be emitted as C++");
    if ((def->flags & kDataDependent) != 0) return fail("mote::" + doc->name + ": sizes that depend on values cannot be emitted as C++");
    const std::string id = number(at);
    uint32_t& types = operators_[doc->name];
    std::vector<Tensor> tensors;
    std::string list, operands;
    for (uint32_t i = 0; i < uint32_t{n.input_count} + n.output_count; ++i) {
      const int32_t t = r_.operands[n.operands + i];
      operands += (i > 0 ? ", " : "") + std::to_string(t < 0 ? -1 : static_cast<int32_t>(tensors.size()));
      if (t < 0) continue;
      types |= mask_of(s_.desc(t).dtype);
      list += (tensors.empty() ? "{&" : ", {&") + descriptor(t) + ", const_cast<uint8_t*>(" + place(t) + ")}";
      tensors.push_back(s_.desc(t).storage == Storage::kConstant ? s_.constant(t) : Tensor{&s_.desc(t), nullptr});
    }
    geometries_ += "const int32_t kOperands" + id + "[] = {" + operands + "};\n";
    const std::string attrs = constants_.bytes(attributes_of(r_, n, *doc).data(), doc->attrs_size);
    if (def->scratch != nullptr) scratch_ = std::max<uint64_t>(scratch_, scratch_bytes_of(r_, n, *def, *doc, tensors));
    *body += indent + "{" + comment(at) + "\n" + indent + "  const mote::Tensor t[] = {" + list + "};\n" + indent +
             "  mote::OpContext c = context(t, kOperands" + id + ", " + attrs + ", " + number(n.input_count) + ", " +
             number(n.output_count) + ", " + scratch("uint8_t*") + ");\n";
    if (in_strip) *body += indent + "  c.rows = {" + begin + ", " + end + "};\n" + indent + "  if (c.rows.begin < c.rows.end)\n  ";
    *body += indent + "  if (!mote::ops::" + doc->name + "::select(c)(c).ok()) return " + std::to_string(at + 1) + ";\n" + indent + "}\n";
    return true;
  }

  std::string init() {
    if (r_.states.empty()) return "";
    std::string parameters, body;
    for (const std::string& bank : banks_) parameters += (parameters.empty() ? "" : ", ") + ("uint8_t* " + bank);
    for (const State& s : r_.states) {
      const auto t = static_cast<int32_t>(s.tensor);
      const std::string bytes = number(extent_bytes(s_.desc(t)));
      body += s.init < 0 ? "  std::memset(" + place(t) + ", 0, " + bytes + ");\n"
                         : "  std::memcpy(" + place(t) + ", " + place(s.init) + ", " + bytes + ");\n";
    }
    header_ += "\n// Sets what is kept from run to run to its first value.\nvoid init(" + parameters + ");\n";
    return "\nvoid init(" + parameters + ") {\n" + body + "}\n";
  }

  const CppBank* stated(size_t bank) const {
    for (const CppBank& b : options_.banks)
      if (b.name == text_of(r_.banks[bank].name)) return &b;
    return nullptr;
  }

  // Scratch goes behind the tensors of the first bank that has room for it.
  bool place_scratch() {
    uint64_t most = 0;
    for (scratch_bank_ = 0; scratch_bank_ < banks_.size(); ++scratch_bank_) {
      const CppBank* b = stated(scratch_bank_);
      scratch_at_ = align_up(r_.banks[scratch_bank_].size, 16);
      if (b == nullptr || b->limit == 0 || scratch_at_ + scratch_ <= b->limit) return true;
      most = std::max(most, b->limit > scratch_at_ ? b->limit - scratch_at_ : 0);
    }
    scratch_bank_ = 0;
    return banks_.empty() || fail("kernels need " + number(scratch_) + " bytes of working memory; the banks have " + number(most) +
                                  " left, " + number(scratch_ - most) + " too few");
  }

  // What the linker or the user's arrays are held to.
  std::string bank_text(size_t b, uint64_t bytes) const {
    const CppBank* bank = stated(b);
    std::string text =
        "// Bytes of memory a run needs, aligned to kAlignment.\nconstexpr unsigned " + banks_[b] + "_bytes = " + number(bytes) + ";\n";
    if (bank == nullptr) return text;
    if (bank->limit > 0) text += "static_assert(" + banks_[b] + "_bytes <= " + number(bank->limit) + ", \"bank " + bank->name + "\");\n";
    std::string macro = out_.name + "_in_" + banks_[b];
    for (char& c : macro) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    if (!bank->section.empty())
      text += "#define " + macro + " __attribute__((section(\"" + bank->section + "\")))  // for the array that holds it\n";
    return text;
  }

  bool finish() {
    const std::string first_values = init();
    if (!place_scratch()) return false;
    std::string sizes;
    for (size_t b = 0; b < banks_.size(); ++b) {
      const uint64_t bytes = b == scratch_bank_ ? scratch_at_ + scratch_ : r_.banks[b].size;
      out_.ram_bytes += bytes;
      sizes += bank_text(b, bytes);
    }
    for (size_t p; !banks_.empty() && (p = functions_.find(kScratchBank)) != std::string::npos;)
      functions_.replace(p, kScratchBank.size(), banks_[scratch_bank_]);
    out_.constant_bytes = constants_.byte_count();
    for (const auto& [name, types] : operators_) out_.portable.push_back(name);
    const std::string guard =
        "#pragma once\n\n// Written by `mote compile --emit cpp`.\n\n#include <cstdint>\n\nnamespace " + out_.name + " {\n\n";
    const std::string flash =
        options_.flash_bytes == 0 ? "" : "static_assert(kConstantBytes <= " + number(options_.flash_bytes) + ", \"flash\");\n";
    out_.header = guard + "constexpr unsigned kAlignment = " + number(options_.alignment) + ";\n" + sizes +
                  "constexpr unsigned kConstantBytes = " + number(out_.constant_bytes) + ";  // in section .mote_constants\n" + flash +
                  header_ + "\n}  // namespace " + out_.name + "\n";
    out_.source = source(scratch_at_, first_values);
    return true;
  }

  std::string source(uint64_t scratch_at, const std::string& first_values) {
    std::string text = "// Written by `mote compile --emit cpp`.\n\n#include \"" + out_.name + ".h\"\n\n";
    const std::string library = out_.name + "_library";
    text += operators_.empty() ? amalgamated(headers_) : amalgamated_library(headers_, operators_, library);
    text +=
        "\n#if defined(__ELF__)\n#define MOTE_CONSTANT [[gnu::section(\".mote_constants\")]] alignas(16)\n#else\n#define MOTE_CONSTANT "
        "alignas(16)\n#endif\n\nnamespace " +
        out_.name + " {\nnamespace {\n\n";
    if (!operators_.empty()) text += "namespace mote = ::" + library + "::mote;\n";
    if (!headers_.empty()) text += "using namespace mote::cortexm;\n";
    text += "[[maybe_unused]] constexpr unsigned kScratch = " + number(scratch_at) + ";\n";
    if (!banks_.empty()) text += "static_assert(kScratch + " + number(scratch_) + " == " + banks_[scratch_bank_] + "_bytes);\n\n";
    text += constants_.text() + "static_assert(0";
    for (size_t i = 0; i < constants_.count(); ++i) text += " + sizeof kData" + number(i);
    text += " == kConstantBytes);\n\n" + geometries_;
    if (strips_) text += "\nconstexpr int row(int at, int rows) { return at < 0 ? 0 : at < rows ? at : rows; }\n";
    if (!operators_.empty())
      text += R"(
mote::OpContext context(const mote::Tensor* tensors, const int32_t* operands, const void* attrs, uint16_t inputs, uint16_t outputs,
                        uint8_t* scratch) {
  mote::OpContext c;
  c.tensors = tensors;
  c.operands = operands;
  c.attr_bytes = attrs;
  c.input_count = inputs;
  c.output_count = outputs;
  c.scratch = {scratch, )" +
              number(scratch_) + R"(};
  return c;
}
)";
    return text + "\n}  // namespace\n" + first_values + functions_ + "\n}  // namespace " + out_.name + "\n";
  }

  const Source s_;
  const program::ProgramRecords& r_;
  const CppOptions& options_;
  CppFiles& out_;
  std::string& error_;
  Constants constants_;
  std::set<std::string> headers_, names_{"run", "init", "kAlignment", "kConstantBytes"};
  std::map<std::string, uint32_t> operators_;  // with the element types they are used with
  std::map<std::string, std::string> descriptors_;
  std::vector<std::string> banks_, io_names_;
  std::string header_, geometries_, functions_;
  uint64_t scratch_ = 0, scratch_at_ = 0;
  size_t scratch_bank_ = 0;
  bool strips_ = false;
};

}  // namespace

bool emit_cpp(const program::ProgramRecords& records, const CppOptions& options, CppFiles* out, std::string* error) {
  CppFiles files;
  if (!CppEmitter(records, options, &files, error).run()) return false;
  *out = std::move(files);
  return true;
}

}  // namespace mote::emit
