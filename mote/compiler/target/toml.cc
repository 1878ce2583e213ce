#include "mote/compiler/target/toml.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace mote::target {
namespace {

constexpr char kBareKey[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

// What a person is shown of a strange text.
std::string shown(const std::string& s) {
  std::string text = "'";
  for (char c : s.substr(0, 40)) text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (s.size() > 40 ? "…'" : "'");
}

class Line {
 public:
  explicit Line(const std::string& text) : text_(text) {}

  bool ends() {
    skip_blanks();
    return at_ == text_.size() || text_[at_] == '#';
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string key() {
    skip_blanks();
    const size_t end = std::min(text_.find_first_not_of(kBareKey, at_), text_.size());
    std::string word = text_.substr(at_, end - at_);
    at_ = end;
    return word;
  }
  std::string rest() {
    skip_blanks();
    return text_.substr(at_);
  }

  bool value(TomlEntry* e, std::string* error) {
    skip_blanks();
    if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) return string(e, error);
    return number(e, error);
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool string(TomlEntry* e, std::string* error) {
    const char quote = text_[at_++];
    e->is_string = true;
    for (; at_ < text_.size() && text_[at_] != quote; ++at_) {
      char c = text_[at_];
      if (c == '\\' && quote == '"') {
        const std::string letters = "\"\\nt", meanings = "\"\\\n\t";
        const size_t k = ++at_ < text_.size() ? letters.find(text_[at_]) : std::string::npos;
        if (k == std::string::npos) return fail(error, "unknown escape in a string: expected \\\" \\\\ \\n or \\t");
        c = meanings[k];
      } else if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) {
        return fail(error, "control character in a string");
      }
      e->string += c;
    }
    if (at_ == text_.size()) return fail(error, "the string does not end on its line");
    ++at_;
    return true;
  }

  bool number(TomlEntry* e, std::string* error) {
    const size_t end = std::min(text_.find_first_of(" \t#", at_), text_.size());
    const std::string word = text_.substr(at_, end - at_);
    at_ = end;
    std::string digits;
    for (size_t i = 0; i < word.size(); ++i) {
      const bool between = i > 0 && i + 1 < word.size() && std::isdigit(static_cast<unsigned char>(word[i - 1])) != 0 &&
                           std::isdigit(static_cast<unsigned char>(word[i + 1])) != 0;
      if (word[i] != '_' || !between) digits += word[i];
    }
    char* stop = nullptr;
    const bool plain = !digits.empty() && digits.find_first_not_of("0123456789+-.eE") == std::string::npos;
    if (plain) e->number = std::strtod(digits.c_str(), &stop);
    if (!plain || stop != digits.c_str() + digits.size() || !std::isfinite(e->number))
      return fail(error, "expected a string in quotes or a number, found " + shown(word));
    return true;
  }

  static bool fail(std::string* error, const std::string& what) {
    *error = what;
    return false;
  }

  const std::string& text_;
  size_t at_ = 0;
};

class Parser {
 public:
  explicit Parser(std::vector<TomlEntry>* out) : out_(*out) {}

  bool line(const std::string& text, int number, std::string* error) {
    Line l(text);
    if (l.ends()) return true;
    if (l.take('[')) return table(l, error);
    TomlEntry e;
    e.table = table_;
    e.line = number;
    const std::string whole = l.rest();
    e.key = l.key();
    if (e.key.empty() || !l.take('=')) return fail(error, "expected [table] or key = value, found " + shown(whole));
    if (!keys_.insert(table_ + "." + e.key).second) return fail(error, "the key '" + e.key + "' stands here twice");
    std::string why;
    if (!l.value(&e, &why)) return fail(error, "key '" + e.key + "': " + why);
    if (!l.ends()) return fail(error, "key '" + e.key + "': more behind the value: " + shown(l.rest()));
    out_.push_back(std::move(e));
    return true;
  }

 private:
  bool table(Line& l, std::string* error) {
    table_ = l.key();
    if (table_.empty() || !l.take(']') || !l.ends()) return fail(error, "expected [name], the name of letters, digits, _ and -");
    if (!tables_.insert(table_).second) return fail(error, "the table [" + table_ + "] stands here twice");
    return true;
  }
  static bool fail(std::string* error, const std::string& what) {
    *error = what;
    return false;
  }

  std::vector<TomlEntry>& out_;
  std::string table_;
  std::set<std::string> tables_, keys_;
};

}  // namespace

bool parse_toml(const std::string& text, std::vector<TomlEntry>* out, std::string* error) {
  out->clear();
  Parser parser(out);
  int number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ++number;
    at = end + 1;
    if (!parser.line(line, number, error)) {
      *error = "line " + std::to_string(number) + ": " + *error;
      return false;
    }
  }
  return true;
}

std::string toml_string(const std::string& s) {
  std::string text = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') text += '\\';
    if (c == '\n') text += "\\n";
    else if (c == '\t') text += "\\t";
    else text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  return text + "\"";
}

}  // namespace mote::target
