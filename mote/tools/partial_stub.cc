// The C++ source of `mote compile --partial`.

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "mote/tools/failure.h"
#include "mote/tools/files.h"
#include "mote/tools/partial.h"
#include "mote/tools/values.h"

namespace mote::tools {
namespace {

constexpr size_t kMostNodes = 8;  // of one kind that are named

// For a line of a comment: a name of a model must not end it or begin a new one.
std::string comment(const std::string& text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == '\\' || c == '?' ? '.' : c;
  return out;
}

std::string identifier(const std::string& symbol) {
  std::string out = "op_";
  for (const char c : symbol) out += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return out;
}

std::string dtype_constant(DType t) {
  std::string name = t == DType::boolean ? "bool" : dtype_name(t);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return "MOTE_" + name;
}

// "{1, 8}"; -1 for a size that is an upper bound.
std::string dims_text(const ir::Type& type) {
  std::string text = "{";
  for (size_t i = 0; i < type.dims.size(); ++i)
    text += (i > 0 ? ", " : "") + ((type.dynamic >> i & 1) != 0 ? "-1" : std::to_string(type.dims[i]));
  return text + "}";
}

std::string described(const ir::MissingOp::Tensor& t) {
  if (t.type.dtype == DType::kNone) return "absent";
  const std::vector<int64_t> dims(t.type.dims.begin(), t.type.dims.end());
  return "'" + comment(t.name) + "': " + driver::type_text(t.type.dtype, dims) + (t.type.is_static() ? "" : ", at most");
}

std::string head(const std::string& model, const std::string& program) {
  return "// Operators of " + comment(model) + " that Mote does not have, for " + comment(program) +
         ". Written by mote compile --partial.\n"
         "//\n"
         "// Fill in the run() functions. Then build a library, with the headers of Mote in reach:\n"
         "//     c++ -std=c++17 -O2 -Wall -Wextra -shared -fPIC -I INCLUDE THIS.cc -o ops.so\n"
         "// Python: mote.load_custom_ops(\"./ops.so\"), then mote.load(...). C++: mote_registry_add_op() for each of mote_custom_ops(), "
         "and the\n"
         "// registry in mote_open_options.\n"
         "//\n"
         "// Tensors may have gaps: the element (i, j) of x lies i * x.strides[0] + j * x.strides[1] bytes behind x.data; at<T>() below "
         "finds it.\n"
         "// mote/api/custom_op.h has the contract.\n"
         "#include <cstdint>\n#include <cstdio>\n#include <initializer_list>\n\n#include \"mote/api/custom_op.h\"\n#include "
         "\"mote/api/mote.h\"\n\n"
         "namespace {\n\n"
         "[[maybe_unused]] uint32_t not_filled_in(const char* name) {\n"
         "  std::fprintf(stderr, \"mote: custom operator %s is not filled in: %s\\n\", name, __FILE__);\n"
         "  return MOTE_UNSUPPORTED;\n}\n\n"
         "// -1: any size.\n"
         "[[maybe_unused]] bool is(const mote_op_tensor& t, uint8_t dtype, std::initializer_list<int32_t> dims) {\n"
         "  if (t.dtype != dtype || t.rank != dims.size()) return false;\n"
         "  const int32_t* size = t.dims;\n"
         "  for (const int32_t d : dims)\n"
         "    if (*size++ != d && d != -1) return false;\n"
         "  return true;\n}\n\n"
         "void give(mote_op_type* out, uint8_t dtype, std::initializer_list<int32_t> dims) {\n"
         "  out->dtype = dtype;\n"
         "  out->rank = static_cast<uint8_t>(dims.size());\n"
         "  int32_t* size = out->dims;\n"
         "  for (const int32_t d : dims) *size++ = d;\n}\n\n"
         "// The element at the given indices, one for each axis.\n"
         "template <class T>\n"
         "[[maybe_unused]] T& at(const mote_op_tensor& t, std::initializer_list<int32_t> indices) {\n"
         "  char* p = static_cast<char*>(t.data);\n"
         "  const int32_t* stride = t.strides;\n"
         "  for (const int32_t i : indices) p += static_cast<int64_t>(i) * *stride++;\n"
         "  return *reinterpret_cast<T*>(p);\n}\n";
}

std::string comments_of(const ir::MissingOp& kind) {
  std::string text = "\n// " + comment(kind.op) + ". Not compiled because: " + comment(kind.why) + "\n//   nodes:";
  for (size_t i = 0; i < std::min(kMostNodes, kind.nodes.size()); ++i) text += (i > 0 ? ", " : " ") + comment(kind.nodes[i]);
  if (kind.nodes.size() > kMostNodes) text += " and " + std::to_string(kind.nodes.size() - kMostNodes) + " more";
  text += "\n";
  for (size_t i = 0; i < kind.inputs.size(); ++i) text += "//   input " + std::to_string(i) + " " + described(kind.inputs[i]) + "\n";
  for (size_t i = 0; i < kind.outputs.size(); ++i) text += "//   output " + std::to_string(i) + " " + described(kind.outputs[i]) + "\n";
  for (const auto& [name, value] : kind.attributes) text += "//   attribute " + comment(name) + " = " + comment(value) + "\n";
  return text;
}

std::string functions_of(const ir::MissingOp& kind) {
  std::string text =
      "namespace " + identifier(kind.symbol) + " {\n\nuint32_t infer(void*, const mote_op_call* call, mote_op_type* out) {\n";
  text += "  if (call->input_count != " + std::to_string(kind.inputs.size()) +
          " || call->output_count != " + std::to_string(kind.outputs.size()) + ") return MOTE_INVALID_ARGUMENT;\n";
  for (size_t i = 0; i < kind.inputs.size(); ++i)
    if (const ir::Type& t = kind.inputs[i].type; t.dtype != DType::kNone)
      text +=
          "  if (!is(call->inputs[" + std::to_string(i) + "], " + dtype_constant(t.dtype) + ", " + dims_text(t) + ")) return MOTE_SHAPE;\n";
  for (size_t i = 0; i < kind.outputs.size(); ++i) {
    const ir::Type& t = kind.outputs[i].type;
    text += "  give(&out[" + std::to_string(i) + "], " + dtype_constant(t.dtype) + ", " + dims_text(t) + ");\n";
  }
  text += "  return 0;\n}\n\n// To fill in: call->inputs[i] and call->outputs[i] are as described above; 0 is success.\n";
  return text + "uint32_t run(void*, const mote_op_call* call) {\n  (void)call;\n  return not_filled_in(\"" + kind.symbol +
         "\");\n}\n\n}  // namespace " + identifier(kind.symbol) + "\n";
}

std::string table_of(const std::vector<ir::MissingOp>& missing) {
  std::string text = "\nconstexpr mote_custom_op kOps[] = {\n";
  for (const ir::MissingOp& kind : missing) {
    size_t least = 0;
    while (least < kind.inputs.size() && kind.inputs[least].type.dtype != DType::kNone) ++least;
    const std::string name = identifier(kind.symbol), outputs = std::to_string(kind.outputs.size());
    text += "    {MOTE_CUSTOM_OP_ABI, 0, \"" + kind.symbol + "\", nullptr, 0, " + std::to_string(least) + ", " +
            std::to_string(kind.inputs.size()) + ", " + outputs + ", " + outputs + ", &" + name + "::infer, &" + name +
            "::run, nullptr},\n";
  }
  return text +
         "};\n\n}  // namespace\n\n"
         "extern \"C\" const mote_custom_op* mote_custom_ops(uint32_t* count);\n"
         "extern \"C\" const mote_custom_op* mote_custom_ops(uint32_t* count) {\n"
         "  *count = static_cast<uint32_t>(sizeof kOps / sizeof kOps[0]);\n"
         "  return kOps;\n}\n";
}

}  // namespace

std::string stub_path(const std::string& program) {
  const size_t dot = program.rfind('.'), slash = program.find_last_of("/\\");
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return (extension ? program.substr(0, dot) : program) + ".custom_ops.cc";
}

std::string stub_source(const std::vector<ir::MissingOp>& missing, const std::string& model, const std::string& program) {
  std::string text = head(model, program);
  for (const ir::MissingOp& kind : missing) text += comments_of(kind) + functions_of(kind);
  return text + table_of(missing);
}

void write_stub(const std::vector<ir::MissingOp>& missing, const std::string& model, const std::string& program) {
  const std::string path = stub_path(program), text = stub_source(missing, model, program);
  std::vector<uint8_t> there;
  std::string error;
  if (read_whole_file(path, &there, &error) && std::string(there.begin(), there.end()) != text) {
    std::fprintf(stderr, "mote: note: %s is there already and stays as it is; move it away to have it written anew\n", path.c_str());
    return;
  }
  if (!write_whole_file(path, {text.begin(), text.end()}, &error)) throw Failure(path + ": " + error);
}

}  // namespace mote::tools
