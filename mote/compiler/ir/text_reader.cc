#include "mote/compiler/ir/text_reader.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "mote/compiler/ir/text_words.h"

namespace mote::ir {

bool TextReader::fail(const std::string& why) {
  if (!ok()) return false;
  error_ = why;
  const size_t where = std::min(blame_, at_);
  error_line_ = 1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(where), '\n');
  at_ = text_.size();
  return false;
}

std::string TextReader::error_text() const { return "line " + std::to_string(error_line_) + ": " + error_; }

void TextReader::skip() {
  while (at_ < text_.size() && (std::strchr(" \n\t\r", text_[at_]) != nullptr || text_[at_] == '#')) {
    if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
    else ++at_;
  }
}

bool TextReader::end() {
  skip();
  return at_ >= text_.size();
}

char TextReader::peek() { return end() ? '\0' : text_[at_]; }

bool TextReader::accept(char c) {
  if (peek() != c || c == '\0') return false;
  ++at_;
  return true;
}

bool TextReader::expect(char c) { return accept(c) || fail(std::string("expected '") + c + "', found '" + word_or_char() + "'"); }

std::string TextReader::word_or_char() {
  const std::string w = peek_word();
  return !w.empty() ? w : std::string(1, peek());
}

std::string TextReader::peek_word() {
  skip();
  size_t e = at_;
  while (e < text_.size() && is_word(text_[e])) ++e;
  return text_.substr(at_, e - at_);
}

std::string TextReader::word() {
  std::string w = peek_word();
  at_ += w.size();
  return w;
}

bool TextReader::accept_word(const char* w) {
  if (peek_word() != w) return false;
  at_ += std::strlen(w);
  return true;
}

std::string TextReader::string() {
  std::string s;
  if (!expect('"')) return s;
  for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) s += text_[++at_] == 'n' ? '\n' : text_[at_];
    else s += text_[at_];
  }
  if (at_ >= text_.size()) fail("a text in quotes does not end");
  else ++at_;
  return s;
}

std::string TextReader::number() {
  skip();
  size_t e = at_;
  while (e < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[e])) != 0 || std::strchr("+-.", text_[e]) != nullptr)) ++e;
  std::string s = text_.substr(at_, e - at_);
  at_ = e;
  if (s.empty()) fail("expected a number, found '" + std::string(1, peek()) + "'");
  return s;
}

int64_t TextReader::integer() {
  int64_t v = 0;
  const std::string s = number();
  if (ok() && !element_from_text(DType::s64, s, reinterpret_cast<uint8_t*>(&v))) fail("expected a whole number, found '" + s + "'");
  return v;
}

int32_t TextReader::integer32() {
  const int64_t v = integer();
  if (v != static_cast<int32_t>(v)) fail("number " + std::to_string(v) + " does not fit 32 bits");
  return static_cast<int32_t>(v);
}

size_t TextReader::place() {
  skip();
  return at_;
}

}  // namespace mote::ir
