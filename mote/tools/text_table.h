#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mote::tools {

// Rows of words in aligned columns. Columns that hold numbers only are aligned to the right.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : head_(std::move(head)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Lines indented by two blanks, each with its end. A head of empty words is left out.
  std::string text() const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;
};

// Without line breaks, which would break a table; cut to `most` letters where given.
std::string one_line(std::string text, size_t most = 0);
std::string number(uint64_t value);      // "1,234,567"
std::string bytes_text(uint64_t bytes);  // "1,234 B", "2.4 MB"
std::string microseconds(double us);     // "12.3"

}  // namespace mote::tools
