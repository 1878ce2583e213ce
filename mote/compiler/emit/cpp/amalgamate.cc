#include "mote/compiler/emit/cpp/amalgamate.h"

#include "kernel_texts.h"

namespace mote::emit {
namespace {

const char* text_of(const std::string& path) {
  for (const KernelText& t : kKernelTexts)
    if (path == t.path) return t.text;
  return nullptr;
}

void add(const std::string& path, std::set<std::string>* done, std::string* out) {
  const char* text = text_of(path);
  if (text == nullptr || !done->insert(path).second) return;
  std::string rest = text;
  for (size_t at = 0; at < rest.size();) {
    const size_t end = rest.find('\n', at);
    const std::string line = rest.substr(at, end - at);
    at = end + 1;
    const std::string start = "#include \"";
    if (line.compare(0, start.size(), start) == 0) add(line.substr(start.size(), line.rfind('"') - start.size()), done, out);
    else if (line != "#pragma once") *out += line + "\n";
  }
}

}  // namespace

std::string amalgamated(const std::set<std::string>& headers) {
  std::string text;
  std::set<std::string> done;
  for (const std::string& name : headers) add("mote/kernels/cortexm/" + name, &done, &text);
  return text;
}

}  // namespace mote::emit
