#pragma once

// Lines of words: how plans and programs are written as text and read back.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mote/core/tensor.h"

namespace mote::text {

// "text" with quotes, backslashes and line ends escaped.
std::string quoted(const std::string& text);
// 1,2,?8: sizes; dynamic ones with a question mark before their bound. "-" for a scalar.
std::string sizes_text(const TensorDesc& d);
// 4,1: plain numbers; "-" for none.
std::string list_text(const int32_t* values, int count);
std::string hex_text(const uint8_t* data, size_t size);
// "<1024 bytes 0123456789abcdef>": size and digest instead of the bytes.
std::string digest_text(const uint8_t* data, size_t size);

// An operator's attribute bytes as "{strides=[2,2,1], groups=4}": those that differ from the default. "{}" when none does; hex
// where the operator or its struct is not known.
std::string attrs_text(uint16_t op, const std::vector<uint8_t>& attrs);
bool attrs_from_text(uint16_t op, const std::string& text, std::vector<uint8_t>* attrs);

// Reads one line. Words are separated by blanks; a quoted text is one word, and so is what stands in braces. After the first error
// everything is empty or 0, and error() says what was expected.
class Words {
 public:
  explicit Words(const std::string& line);

  bool at_end() const { return next_ == words_.size(); }
  std::string peek() const { return at_end() ? "" : words_[next_]; }
  std::string word();
  bool accept(const std::string& word);
  void expect(const std::string& word);
  std::string text();                           // in quotes
  int64_t number(int64_t least, int64_t most);  // inclusive
  void sizes(TensorDesc* d);                    // sets rank, dims, dynamic
  std::vector<int32_t> list();
  std::vector<uint8_t> bytes();  // hex
  DType dtype();

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  void fail(const std::string& why);

 private:
  std::vector<std::string> words_;
  size_t next_ = 0;
  std::string error_;
};

// Hands every line that is not empty to `read`, which must take all its words. Stops at the first error: "line 3: expected ...".
bool each_line(const std::string& text, const std::function<void(Words&)>& read, std::string* error);

}  // namespace mote::text
