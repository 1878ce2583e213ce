#include <limits>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"
#include "mote/fleet/base/json_text.h"

namespace mote::fleet {

using namespace json_text;

namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMaxBytes = std::numeric_limits<uint32_t>::max();

}  // namespace

// One pass over unknown text.
class JsonChecker {
 public:
  // raw_controls: canonical text has control characters as they are.
  JsonChecker(std::string_view text, bool raw_controls) : text_(text), raw_controls_(raw_controls) {}

  Json check() {
    if (text_.size() > kMaxBytes) throw Error("JSON of more than 4 GiB");
    spaces();
    const size_t begin = at_;
    value(0);
    const size_t end = at_;
    spaces();
    if (at_ != text_.size()) fail("the end");
    return Json(text_.substr(begin, end - begin));
  }

 private:
  [[noreturn]] void fail(const char* expected) const {
    throw Error("not JSON as it may be signed: expected " + std::string(expected) + " at byte " + std::to_string(at_));
  }
  bool more() const { return at_ < text_.size(); }
  char peek() const { return more() ? text_[at_] : '\0'; }
  void spaces() {
    while (more() && is_space(text_[at_])) ++at_;
  }
  bool accept(char c) {
    if (!more() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void word(std::string_view w) {
    if (text_.substr(at_, w.size()) != w) fail("a value");
    at_ += w.size();
  }

  void value(int depth) {
    switch (peek()) {
      case '{': return object(depth);
      case '[': return array(depth);
      case '"': return string();
      case 't': return word("true");
      case 'f': return word("false");
      case 'n': return word("null");
      default: return number();
    }
  }

  void number() {
    const bool negative = accept('-');
    if (!is_digit(peek())) fail("a value");
    const bool zero = peek() == '0';
    uint64_t magnitude = 0;
    const uint64_t limit = uint64_t{1} << 63;
    for (const size_t begin = at_; is_digit(peek()); ++at_) {
      if (zero && at_ > begin) fail("a number without leading zeros");
      const auto digit = static_cast<uint64_t>(peek() - '0');
      if (magnitude > (limit - digit) / 10) fail("an integer of 64 bits");
      magnitude = magnitude * 10 + digit;
    }
    if (magnitude == limit && !negative) fail("an integer of 64 bits");
    if (more() && (peek() == '.' || (peek() | 32) == 'e')) fail("an integer");
  }

  uint32_t escape4() {
    if (text_.size() - at_ < 4) fail("four hexadecimal digits");
    for (size_t i = 0; i < 4; ++i) {
      const char c = text_[at_ + i];
      if (!is_digit(c) && ((c | 32) < 'a' || (c | 32) > 'f')) fail("four hexadecimal digits");
    }
    at_ += 4;
    return hex4(text_.substr(at_ - 4));
  }

  void escape() {
    if (accept('u')) {
      const uint32_t code = escape4();
      if (code == 0) fail("a character other than NUL");
      if (code >= 0xdc00 && code < 0xe000) fail("a character, not half of one");
      if (code < 0xd800 || code >= 0xe000) return;
      if (!accept('\\') || !accept('u')) fail("the second half of a character");
      const uint32_t low = escape4();
      if (low < 0xdc00 || low >= 0xe000) fail("the second half of a character");
    } else if (!more() || std::string_view("\"\\/bfnrt").find(text_[at_++]) == std::string_view::npos) {
      fail("an escape");
    }
  }

  // One character of more than one byte: shortest form, no surrogates, at most U+10FFFF.
  void utf8() {
    const auto byte = [&](size_t i) { return at_ + i < text_.size() ? static_cast<unsigned char>(text_[at_ + i]) : 0u; };
    const uint32_t first = byte(0);
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) fail("UTF-8");
    uint32_t code = first & (0xff >> (length + 1));
    for (size_t i = 1; i < length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) fail("UTF-8");
      code = code << 6 | (byte(i) & 63);
    }
    const uint32_t least = length == 4 ? 0x10000 : length == 3 ? 0x800 : 0x80;
    if (code < least || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) fail("UTF-8");
    at_ += length;
  }

  void string() {
    if (!accept('"')) fail("a string");
    while (true) {
      if (!more()) fail("the end of a string");
      const char c = text_[at_];
      if (c == '"') break;
      if (c == '\0' || (static_cast<unsigned char>(c) < 0x20 && !raw_controls_)) fail("no control character");
      if (static_cast<unsigned char>(c) >= 0x80) {
        utf8();
        continue;
      }
      ++at_;
      if (c == '\\') escape();
    }
    ++at_;
  }

  void deeper(int depth) {
    if (depth >= kMaxDepth) fail("at most 64 levels");
    ++at_;
    spaces();
  }

  void array(int depth) {
    deeper(depth);
    if (accept(']')) return;
    do {
      spaces();
      value(depth + 1);
      spaces();
    } while (accept(','));
    if (!accept(']')) fail("',' or ']'");
  }

  void object(int depth) {
    const size_t begin = at_;
    deeper(depth);
    if (accept('}')) return;
    bool ordered = true;  // as canonical text is: each name is there once then
    std::string_view previous;
    do {
      spaces();
      const size_t name = at_;
      string();
      if (at_ - name > kMaxNameBytes) fail("a name of at most 4096 bytes");
      ordered = ordered && (previous.empty() || name_less(previous, text_.substr(name, at_ - name)));
      previous = text_.substr(name, at_ - name);
      spaces();
      if (!accept(':')) fail("':'");
      spaces();
      value(depth + 1);
      spaces();
    } while (accept(','));
    if (!accept('}')) fail("',' or '}'");
    if (!ordered) require_each_once(sorted_members(text_, begin));
  }

  void require_each_once(const std::vector<uint32_t>& members) {
    for (size_t i = 1; i < members.size(); ++i) {
      if (!name_less(member_name(text_, members[i - 1]), member_name(text_, members[i]))) {
        at_ = members[i];
        fail("each name once in an object");
      }
    }
  }

  const std::string_view text_;
  const bool raw_controls_;
  size_t at_ = 0;
};

Json Json::parse(std::string_view text) { return JsonChecker(text, false).check(); }
Json Json::parse_canonical(std::string_view text) { return JsonChecker(text, true).check(); }

}  // namespace mote::fleet
