#include "mote/tools/text_table.h"

#include <algorithm>
#include <cstdio>

namespace mote::tools {
namespace {

// Letters as a terminal counts them: UTF-8 continuation bytes take no column.
size_t width_of(const std::string& s) {
  return static_cast<size_t>(std::count_if(s.begin(), s.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_number(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789.,-+e%x") == std::string::npos; }

void append_padded(std::string* line, const std::string& word, size_t width, bool right) {
  const std::string pad(width - std::min(width, width_of(word)), ' ');
  *line += right ? pad + word : word + pad;
}

}  // namespace

std::string TextTable::text() const {
  const size_t columns = head_.size();
  std::vector<size_t> widths(columns);
  std::vector<bool> right(columns, !rows_.empty());
  bool has_head = false;
  for (size_t c = 0; c < columns; ++c) {
    widths[c] = width_of(head_[c]);
    has_head |= !head_[c].empty();
    for (const auto& row : rows_) {
      widths[c] = std::max(widths[c], width_of(row[c]));
      right[c] = right[c] && (is_number(row[c]) || row[c].empty() || row[c] == "-");
    }
  }
  std::string all;
  const auto append_row = [&](const std::vector<std::string>& row) {
    std::string line = " ";
    for (size_t c = 0; c < columns; ++c) {
      line += ' ';
      append_padded(&line, row[c], widths[c], right[c]);
      if (c + 1 < columns) line += ' ';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  };
  if (has_head) append_row(head_);
  for (const auto& row : rows_) append_row(row);
  return all;
}

std::string one_line(std::string text, size_t most) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return most > 0 && text.size() > most ? text.substr(0, most - 3) + "…" : text;
}

std::string number(uint64_t value) {
  std::string s = std::to_string(value);
  for (size_t i = s.size(); i > 3; i -= 3) s.insert(i - 3, ",");
  return s;
}

std::string bytes_text(uint64_t bytes) {
  if (bytes < 1000000) return number(bytes) + " B";
  char text[32];
  if (bytes < 1000000000) std::snprintf(text, sizeof text, "%.2f MB", static_cast<double>(bytes) / 1e6);
  else std::snprintf(text, sizeof text, "%.2f GB", static_cast<double>(bytes) / 1e9);
  return text;
}

std::string microseconds(double us) {
  char text[32];
  std::snprintf(text, sizeof text, us < 10 ? "%.2f" : us < 1000 ? "%.1f" : "%.0f", us);
  return text;
}

}  // namespace mote::tools
