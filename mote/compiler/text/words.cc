#include "mote/compiler/text/words.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "mote/ops/op_docs.h"

namespace mote::text {
namespace {

std::vector<std::string> split(const std::string& s, const std::string& between) {
  std::vector<std::string> parts;
  if (s.empty() || s == "-") return parts;
  for (size_t at = 0;;) {
    const size_t end = s.find(between, at);
    parts.push_back(s.substr(at, end == std::string::npos ? end : end - at));
    if (end == std::string::npos) return parts;
    at = end + between.size();
  }
}

bool parse_number(const std::string& s, int64_t* out) {
  char* end = nullptr;
  errno = 0;
  *out = std::strtoll(s.c_str(), &end, 10);
  return !s.empty() && *end == 0 && errno == 0;
}

bool unhex(const std::string& s, std::vector<uint8_t>* out) {
  if (s.size() % 2 != 0) return false;
  const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  out->clear();
  for (size_t i = 0; i < s.size(); i += 2) {
    const int high = digit(s[i]), low = digit(s[i + 1]);
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<uint8_t>(high * 16 + low));
  }
  return true;
}

// Where the word that begins here ends.
size_t word_end(const std::string& s, size_t at) {
  const char close = s[at] == '"' ? '"' : s[at] == '{' && at + 1 < s.size() ? '}' : s[at] == '<' ? '>' : 0;
  size_t i = at + 1;
  if (close == 0) return std::min(s.find(' ', at), s.size());
  for (; i < s.size() && s[i] != close; ++i)
    if (close == '"' && s[i] == '\\') ++i;
  return std::min(i + 1, s.size());
}

}  // namespace

std::string quoted(const std::string& text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c == '\n' ? "\\n" : std::string(1, c);
  }
  return s + "\"";
}

std::string sizes_text(const TensorDesc& d) {
  std::string s;
  for (int i = 0; i < d.rank; ++i) s += (i > 0 ? "," : "") + std::string((d.dynamic >> i & 1) != 0 ? "?" : "") + std::to_string(d.dims[i]);
  return s.empty() ? "-" : s;
}

std::string list_text(const int32_t* values, int count) {
  std::string s;
  for (int i = 0; i < count; ++i) s += (i > 0 ? "," : "") + std::to_string(values[i]);
  return s.empty() ? "-" : s;
}

std::string hex_text(const uint8_t* data, size_t size) {
  static const char digits[] = "0123456789abcdef";
  std::string s = "hex:";
  s.reserve(size * 2 + 4);
  for (size_t i = 0; i < size; ++i) s += digits[data[i] >> 4], s += digits[data[i] & 15];
  return s;
}

std::string digest_text(const uint8_t* data, size_t size) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) h = (h ^ data[i]) * 0x100000001b3u;
  char s[64];
  std::snprintf(s, sizeof s, "<%zu bytes %016llx>", size, static_cast<unsigned long long>(h));
  return s;
}

std::string attrs_text(uint16_t op, const std::vector<uint8_t>& attrs) {
  const OpDoc* doc = find_op_doc(op);
  if (doc != nullptr && attrs.size() == doc->attrs_size) {
    std::string s;
    for (const AttrDoc& f : doc->attrs) {
      const std::string now = attr_to_text(f, attrs.data());
      if (now != attr_to_text(f, doc->default_attrs.data())) s += (s.empty() ? "" : "; ") + f.name + "=" + now;
    }
    s = "{" + s + "}";
    // Texts of floats may be shorter than floats.
    std::vector<uint8_t> back;
    if (attrs_from_text(op, s, &back) && back == attrs) return s;
  }
  return hex_text(attrs.data(), attrs.size());
}

bool attrs_from_text(uint16_t op, const std::string& text, std::vector<uint8_t>* attrs) {
  if (text.rfind("hex:", 0) == 0) return unhex(text.substr(4), attrs);
  const OpDoc* doc = find_op_doc(op);
  if (doc == nullptr || text.size() < 2 || text.front() != '{' || text.back() != '}') return false;
  *attrs = doc->default_attrs;
  attrs->resize(doc->attrs_size);
  for (const std::string& part : split(text.substr(1, text.size() - 2), "; ")) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos) return false;
    const auto f = std::find_if(doc->attrs.begin(), doc->attrs.end(), [&](const AttrDoc& a) { return a.name == part.substr(0, equals); });
    if (f == doc->attrs.end() || !attr_from_text(*f, part.substr(equals + 1), attrs->data())) return false;
  }
  return true;
}

Words::Words(const std::string& line) {
  for (size_t at = 0; at < line.size();) {
    if (line[at] == ' ' || line[at] == '\t' || line[at] == '\r') {
      ++at;
      continue;
    }
    const size_t end = word_end(line, at);
    words_.push_back(line.substr(at, end - at));
    at = end;
  }
}

void Words::fail(const std::string& why) {
  if (ok()) error_ = why.empty() ? "wrong" : why;
  next_ = words_.size();
}

std::string Words::word() {
  if (at_end()) {
    fail("the line ends too early");
    return "";
  }
  return words_[next_++];
}

bool Words::accept(const std::string& w) {
  if (peek() != w || at_end()) return false;
  ++next_;
  return true;
}

void Words::expect(const std::string& w) {
  if (!accept(w)) fail("expected '" + w + "', found '" + peek() + "'");
}

std::string Words::text() {
  const std::string w = word();
  if (w.size() < 2 || w.front() != '"' || w.back() != '"') {
    fail("expected a text in quotes, found '" + w + "'");
    return "";
  }
  std::string s;
  for (size_t i = 1; i + 1 < w.size(); ++i) {
    if (w[i] == '\\' && i + 2 < w.size()) s += w[++i] == 'n' ? '\n' : w[i];
    else s += w[i];
  }
  return s;
}

int64_t Words::number(int64_t least, int64_t most) {
  const std::string w = word();
  int64_t v = 0;
  if (ok() && (!parse_number(w, &v) || v < least || v > most))
    fail("expected a number from " + std::to_string(least) + " to " + std::to_string(most) + ", found '" + w + "'");
  return ok() ? v : 0;
}

void Words::sizes(TensorDesc* d) {
  const std::vector<std::string> parts = split(word(), ",");
  if (parts.size() > static_cast<size_t>(kMaxRank)) return fail("more than 8 dimensions");
  d->rank = static_cast<uint8_t>(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool dynamic = !parts[i].empty() && parts[i][0] == '?';
    int64_t v = 0;
    if (!parse_number(parts[i].substr(dynamic ? 1 : 0), &v) || v < 0 || v > 0x7fffffff) return fail("no size: '" + parts[i] + "'");
    d->dims[i] = static_cast<int32_t>(v);
    if (dynamic) d->dynamic = static_cast<uint8_t>(d->dynamic | 1u << i);
  }
}

std::vector<int32_t> Words::list() {
  std::vector<int32_t> out;
  for (const std::string& part : split(word(), ",")) {
    int64_t v = 0;
    if (!parse_number(part, &v) || v != static_cast<int32_t>(v)) {
      fail("no number: '" + part + "'");
      return {};
    }
    out.push_back(static_cast<int32_t>(v));
  }
  return out;
}

std::vector<uint8_t> Words::bytes() {
  const std::string w = word();
  std::vector<uint8_t> out;
  if (ok() && w.rfind("hex:", 0) != 0) fail(w[0] == '<' ? "the bytes were not printed" : "expected hex:, found '" + w + "'");
  else if (ok() && !unhex(w.substr(4), &out)) fail("no hexadecimal bytes");
  return out;
}

DType Words::dtype() {
  const std::string w = word();
  const DType t = dtype_from_name(w.c_str());
  if (t == DType::kNone) fail("expected an element type, found '" + w + "'");
  return t;
}

bool each_line(const std::string& text, const std::function<void(Words&)>& read, std::string* error) {
  std::istringstream in(text);
  std::string line;
  for (int n = 1; std::getline(in, line); ++n) {
    Words w(line);
    if (w.at_end()) continue;
    read(w);
    if (w.ok() && !w.at_end()) w.fail("'" + w.peek() + "' is too much");
    if (w.ok()) continue;
    *error = "line " + std::to_string(n) + ": " + w.error();
    return false;
  }
  return true;
}

}  // namespace mote::text
