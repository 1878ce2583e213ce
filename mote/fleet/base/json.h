#pragma once

// JSON that signatures are made over. A Json is a view of text that was checked once, as a whole: reading allocates nothing but the
// strings it returns, so a hostile file costs no more memory than its size.
//
// Accepted: RFC 8259 without fractions and exponents (canonical JSON has none), integers of 64 bits, valid UTF-8, 64 levels, names of at
// most 4096 bytes, none twice in an object; no NUL, raw or escaped: what is compared as C text would end there. The text must outlive its
// views.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mote::fleet {

class Json {
 public:
  enum class Kind { kNull, kBool, kInteger, kString, kArray, kObject };

  // Throws Error with the byte at which the text stops being what is accepted.
  static Json parse(std::string_view text);
  // The same for what canonical() returned.
  static Json parse_canonical(std::string_view text);

  Kind kind() const;
  // Each throws an Error when the value is of another kind.
  bool boolean() const;
  int64_t integer() const;
  std::string string(size_t most = SIZE_MAX) const;  // an Error too when it is longer than `most` bytes

  // Members of an object, by name: nothing or an Error when there is none.
  std::optional<Json> find(std::string_view name) const;
  Json at(std::string_view name) const;

  // Elements of an array or members of an object, in the order of the text: `for (Json::Cursor c(value); c.next();) use(c.value())`.
  class Cursor {
   public:
    explicit Cursor(const Json& container);
    bool next();
    std::string key() const;  // of an object's member
    Json value() const { return Json(value_); }

   private:
    friend class Json;
    std::string_view rest_, key_, value_;
    bool object_;
  };
  size_t size() const;  // of an array or object

  // The one text that all equal values have: names sorted, no spaces, strings with only \\ and \" escaped (as securesystemslib signs).
  // Never longer than the text it comes from.
  std::string canonical() const;

  std::string_view text() const { return text_; }

 private:
  friend class JsonChecker;
  explicit Json(std::string_view text) : text_(text) {}
  static Json require(const Json& value, Kind kind);
  void append_canonical(std::string& out) const;

  std::string_view text_;  // one value, without spaces around it
};

// Text of a JSON string, with quotes, as canonical JSON and as RFC 8259 (control characters escaped).
std::string canonical_string(std::string_view text);
std::string json_string(std::string_view text);

}  // namespace mote::fleet
