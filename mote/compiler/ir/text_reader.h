#pragma once

#include <string>

namespace mote::ir {

// Reads a text word by word. Blanks, ends of lines and comments (# to the end of the line) stand between words. The first failure is kept;
// after it everything reads as the end of the text.
class TextReader {
 public:
  explicit TextReader(const std::string& text) : text_(text) {}

  bool ok() const { return error_.empty(); }
  bool fail(const std::string& why);  // false
  std::string error_text() const;     // "line 3: ..."

  bool end();               // nothing is left
  char peek();              // the next character; 0 at the end
  bool accept(char c);      // takes it when it comes next
  bool expect(char c);      // fails when it does not
  std::string peek_word();  // letters and digits as is_word() has them; may be empty
  std::string word();
  bool accept_word(const char* w);
  std::string word_or_char();  // what comes next, for messages
  std::string string();        // in quotes
  std::string number();        // as it is written, to be read for its type
  int64_t integer();
  int32_t integer32();

  // Where the next word starts; failures are reported there until blame(npos) when it comes before the reading place.
  size_t place();
  void blame(size_t place) { blame_ = place; }

 private:
  void skip();

  const std::string& text_;
  std::string error_;
  std::ptrdiff_t error_line_ = 0;
  size_t at_ = 0;
  size_t blame_ = std::string::npos;
};

}  // namespace mote::ir
