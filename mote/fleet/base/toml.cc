#include "mote/fleet/base/toml.h"

#include <algorithm>
#include <map>

#include "mote/fleet/base/error.h"
#include "mote/fleet/base/json.h"

namespace mote::fleet {
namespace {

constexpr size_t kMaxTomlBytes = 256 << 10, kMaxKeys = 1024;
constexpr std::string_view kBareKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  bool ends() {
    skip();
    return rest_.empty() || rest_[0] == '#';
  }
  bool take(char c) {
    skip();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string key() {
    skip();
    const std::string_view word = rest_.substr(0, rest_.find_first_not_of(kBareKey));
    rest_.remove_prefix(word.size());
    if (word.empty()) throw Error("a key or [table] is expected");
    return std::string(word);
  }
  std::string value() {
    if (take('"')) return string();
    if (take('[')) return array();
    skip();
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \t#,]"));
    rest_.remove_prefix(word.size());
    if (word == "true" || word == "false") return std::string(word);
    std::string digits;
    for (size_t i = 0; i < word.size(); ++i) {
      if (word[i] != '_' || i == 0 || i + 1 == word.size()) digits += word[i];
    }
    const bool number = !digits.empty() && digits.size() < 19 && digits.find_first_not_of("0123456789") == std::string::npos;
    if (!number) throw Error("a string, whole number, true, false or array of strings is expected");
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
    return digits;
  }

 private:
  void skip() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

  std::string string() {
    std::string out;
    while (!rest_.empty() && rest_[0] != '"') {
      char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '\\') {
        if (rest_.empty() || (rest_[0] != '"' && rest_[0] != '\\')) throw Error("in a string only \\\" and \\\\ are escapes");
        c = rest_[0];
        rest_.remove_prefix(1);
      }
      out += c;
    }
    if (!take('"')) throw Error("the string does not end on its line");
    return json_string(out);
  }

  std::string array() {
    std::string out = "[";
    while (!take(']')) {
      if (!take('"')) throw Error("an array has strings, on one line");
      out += (out.size() > 1 ? "," : "") + string();
      if (!take(',')) {
        if (!take(']')) throw Error("']' or ',' is expected");
        break;
      }
    }
    return out + "]";
  }

  std::string_view rest_;
};

std::string object_text(const std::map<std::string, std::string>& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) out += (out.size() > 1 ? "," : "") + json_string(name) + ":" + value;
  return out + "}";
}

}  // namespace

std::string toml_to_json(std::string_view text) {
  if (text.size() > kMaxTomlBytes) throw Error("more than 256 KiB");
  std::map<std::string, std::map<std::string, std::string>> tables;
  std::string table;
  tables[table];
  size_t keys = 0;
  for (int number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view here = text.substr(0, end);
    if (!here.empty() && here.back() == '\r') here.remove_suffix(1);
    text.remove_prefix(std::min(end + 1, text.size()));
    within("line " + std::to_string(number), [&] {
      Line line(here);
      if (line.ends()) return;
      if (++keys > kMaxKeys) throw Error("more than 1024 keys");
      if (line.take('[')) {
        table = line.key();
        if (!line.take(']') || !line.ends()) throw Error("[name] is expected");
        if (!tables.emplace(table, std::map<std::string, std::string>()).second) throw Error("[" + table + "] is there twice");
        return;
      }
      const std::string key = line.key();
      if (!line.take('=')) throw Error("'=' is expected behind " + key);
      std::string value = line.value();
      if (!line.ends()) throw Error("something stands behind the value of " + key);
      if (!tables[table].emplace(key, std::move(value)).second) throw Error(key + " is there twice");
    });
  }
  std::map<std::string, std::string> whole = std::move(tables[""]);
  for (const auto& [name, members] : tables) {
    if (!name.empty() && !whole.emplace(name, object_text(members)).second) throw Error(name + " is a key and a table");
  }
  tables.clear();
  return Json::parse(object_text(whole)).canonical();
}

}  // namespace mote::fleet
