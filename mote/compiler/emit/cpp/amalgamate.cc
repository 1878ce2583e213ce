#include "mote/compiler/emit/cpp/amalgamate.h"

#include <cstdint>

#include "kernel_texts.h"

namespace mote::emit {
namespace {

const char* text_of(const std::string& path) {
  for (const KernelText& t : kKernelTexts)
    if (path == t.path) return t.text;
  return nullptr;
}

bool starts_with(const std::string& text, const std::string& start) { return text.compare(0, start.size(), start) == 0; }
bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

class Amalgamation {
 public:
  // Headers once; lists (.def) as often as they are asked for.
  void add(const std::string& path) {
    const char* text = text_of(path);
    if (text == nullptr || (!ends_with(path, ".def") && !done_.insert(path).second)) return;
    const std::string rest = text;
    for (size_t at = 0; at < rest.size();) {
      const size_t end = std::min(rest.find('\n', at), rest.size());
      line(rest.substr(at, end - at));
      at = end + 1;
    }
  }
  void add_text(const std::string& path, const std::string& text) {
    done_.insert(path);
    generated_[path] = text;
  }
  std::string system() const {
    std::string all;
    for (const std::string& line : system_) all += line + "\n";
    return all;
  }
  const std::string& body() const { return body_; }

 private:
  void line(const std::string& text) {
    if (starts_with(text, "#include \"")) {
      const std::string path = text.substr(10, text.find('"', 10) - 10);
      const auto generated = generated_.find(path);
      if (generated == generated_.end()) {
        add(path);
      } else {
        body_ += generated->second;
        generated->second.clear();
      }
    } else if (starts_with(text, "#include <")) {
      system_.insert(text);
    } else if (text != "#pragma once") {
      body_ += text + "\n";
    }
  }

  std::set<std::string> done_, system_;
  std::map<std::string, std::string> generated_;
  std::string body_;
};

}  // namespace

std::string amalgamated(const std::set<std::string>& headers) {
  Amalgamation a;
  for (const std::string& name : headers) a.add("mote/kernels/cortexm/" + name);
  return a.system() + a.body();
}

std::string amalgamated_library(const std::set<std::string>& headers, const std::map<std::string, uint32_t>& operators,
                                const std::string& name) {
  std::string types = "namespace mote {\nconstexpr DTypeMask selected_types(OpId op) {\n";
  for (const auto& [op, mask] : operators) types += "  if (op == OpId::" + op + ") return " + std::to_string(mask) + "u;\n";
  Amalgamation a;
  a.add_text("mote_selection.h", types + "  return 0;\n}\n}  // namespace mote\n");
  for (const std::string& header : headers) a.add("mote/kernels/cortexm/" + header);
  a.add("mote/core/dtype.h");
  a.add("mote/ops/op_id.h");
  for (const auto& [op, mask] : operators) a.add("mote/ops/" + op + "/" + op + ".h"), a.add("mote/ops/" + op + "/" + op + ".cc");
  for (const KernelText& t : kKernelTexts)
    if (starts_with(t.path, "mote/core/") && ends_with(t.path, ".cc")) a.add(t.path);
  std::string body = a.body();
  const std::string from_root = "::mote::", nested = "::" + name + from_root;
  for (size_t at = 0; (at = body.find(from_root, at)) != std::string::npos; at += nested.size()) body.replace(at, from_root.size(), nested);
  return a.system() + "\n#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n\nnamespace " + name +
         " {\n" + body + "}  // namespace " + name + "\n";
}

}  // namespace mote::emit
